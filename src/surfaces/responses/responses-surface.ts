import { createGuardedRoutes, type GuardedRoute } from "../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import { formatOpenAiError } from "../../http/routing/openai-errors.ts";
import { duplicateWithPrefix, type RouteGroup } from "../../http/routing/router.ts";
import type { SocketRoute } from "../../http/sockets/web-sockets.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { createOpenApiDocument } from "../../wire/responses/openapi/openapi-document.ts";
import type { ResponsesOptions } from "./responses-options.ts";
import { createChatRoutes } from "./routes/chat-routes.ts";
import { createConversationRoutes } from "./routes/conversation-routes.ts";
import { createInferenceRoutes } from "./routes/inference-routes.ts";
import { createModelRoutes } from "./routes/model-routes.ts";
import { createResponseRoutes } from "./routes/response-routes.ts";
import { createResponsesSocketRoute } from "./socket/serve-responses-socket.ts";
import { createSurfaceContext } from "./surface-context.ts";

export interface ResponsesSurface extends RouteGroup {
  /** The WebSocket routes of the same surface. */
  readonly sockets: readonly SocketRoute[];
}

/** The Open Responses surface: all routes, each with and without the prefix `/v1`. */
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

/** Serves the OpenAPI document of this surface. */
function createOpenApiRoutes(): GuardedRoute[] {
  return [
    {
      method: "GET",
      path: "/openapi.json",
      async handle() {
        return createJsonResponse(200, createOpenApiDocument(readPackageVersion()));
      },
    },
  ];
}
