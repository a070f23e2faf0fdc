import { guardedRoutes } from "../../http/guarded-routes.ts";
import { openAiErrors } from "../../http/openai-errors.ts";
import { withAndWithout, type RouteGroup } from "../../http/router.ts";
import type { SocketRoute } from "../../http/web-sockets.ts";
import { chatRoutes } from "./chat-routes.ts";
import { conversationRoutes } from "./conversation-routes.ts";
import { inferenceRoutes } from "./inference-routes.ts";
import { modelRoutes } from "./model-routes.ts";
import { openApiRoutes } from "./openapi-routes.ts";
import { responseRoutes } from "./response-routes.ts";
import type { ResponsesOptions } from "./responses-options.ts";
import { socketRoute } from "./socket-route.ts";
import { surfaceOf } from "./surface.ts";

export interface ResponsesSurface extends RouteGroup {
  /** Paths of the same whose connections may become WebSockets. */
  readonly sockets: readonly SocketRoute[];
}

/** Agents for whoever speaks Open Responses: the routes, with and without `/v1`. */
export function responsesSurface(options: ResponsesOptions): ResponsesSurface {
  const surface = surfaceOf(options);
  const routes = ROUTES.flatMap((routesOf) => routesOf(surface));
  return {
    routes: withAndWithout("/v1", guardedRoutes(routes, options)),
    errors: openAiErrors,
    sockets: withAndWithout("/v1", [socketRoute(surface)]),
  };
}

const ROUTES = [
  responseRoutes,
  chatRoutes,
  inferenceRoutes,
  conversationRoutes,
  modelRoutes,
  openApiRoutes,
];
