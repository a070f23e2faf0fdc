import { createGuardedRoutes } from "../../http/guarded-routes.ts";
import { formatOpenAiError } from "../../http/openai-errors.ts";
import { duplicateWithPrefix, type RouteGroup } from "../../http/router.ts";
import type { SocketRoute } from "../../http/web-sockets.ts";
import { createChatRoutes } from "./chat-routes.ts";
import { createConversationRoutes } from "./conversation-routes.ts";
import { createInferenceRoutes } from "./inference-routes.ts";
import { createModelRoutes } from "./model-routes.ts";
import { createOpenApiRoutes } from "./openapi-routes.ts";
import { createResponseRoutes } from "./response-routes.ts";
import type { ResponsesOptions } from "./responses-options.ts";
import { createResponsesSocketRoute } from "./socket-route.ts";
import { createSurfaceContext } from "./surface.ts";

export interface ResponsesSurface extends RouteGroup {
  /** Paths of the same whose connections may become WebSockets. */
  readonly sockets: readonly SocketRoute[];
}

/** Agents for whoever speaks Open Responses: the routes, with and without `/v1`. */
export function createResponsesSurface(options: ResponsesOptions): ResponsesSurface {
  const surface = createSurfaceContext(options);
  const routes = ROUTE_FACTORIES.flatMap((createRoutes) => createRoutes(surface));
  return {
    routes: duplicateWithPrefix("/v1", createGuardedRoutes(routes, options)),
    formatError: formatOpenAiError,
    sockets: duplicateWithPrefix("/v1", [createResponsesSocketRoute(surface)]),
  };
}

const ROUTE_FACTORIES = [
  createResponseRoutes,
  createChatRoutes,
  createInferenceRoutes,
  createConversationRoutes,
  createModelRoutes,
  createOpenApiRoutes,
];
