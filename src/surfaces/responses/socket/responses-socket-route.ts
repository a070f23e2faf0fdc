import { requireRight } from "../../../http/access/caller.ts";
import type { SocketRoute } from "../../../http/sockets/web-sockets.ts";
import { refuseSteering, serveResponsesSocket } from "./serve-responses-socket.ts";
import type { SurfaceContext } from "../surface-context.ts";

/** Responses over a WebSocket, at the path where they are asked for over HTTP. */
export function createResponsesSocketRoute(surface: SurfaceContext): SocketRoute {
  return {
    path: "/responses",
    instantAnswer: refuseSteering,
    async accept(head) {
      const caller = surface.access.authenticate(head);
      requireRight(caller, "prompt", "Asking an agent");
      surface.rates?.countRequest(caller.id);
      return (socket) => serveResponsesSocket(surface, { head, caller }, socket);
    },
  };
}
