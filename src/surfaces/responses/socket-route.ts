import { requireRight } from "../../http/caller.ts";
import type { SocketRoute } from "../../http/web-sockets.ts";
import { refuseSteering, talkOverSocket } from "./socket-talk.ts";
import type { Surface } from "./surface.ts";

/** Responses over a WebSocket, at the path where they are asked for over HTTP. */
export function socketRoute(surface: Surface): SocketRoute {
  return {
    path: "/responses",
    instantAnswer: refuseSteering,
    async accept(head) {
      const caller = surface.access.callerOf(head);
      requireRight(caller, "prompt", "Asking an agent");
      surface.rates?.request(caller.id);
      return (socket) => talkOverSocket(surface, { head, caller }, socket);
    },
  };
}
