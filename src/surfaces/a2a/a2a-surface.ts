import { createGuardedRoutes } from "../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { GuardedRoute } from "../../http/routing/guarded-routes.ts";
import type { RouteGroup } from "../../http/routing/router.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import type { ServedResponse } from "../../http/server/http-types.ts";
import { encodeHttpError, readReasonCodes, type A2aError } from "../../wire/a2a/a2a-error.ts";
import type { A2aOptions } from "./a2a-context.ts";
import { createCardRoute, createPushKeyRoutes } from "./card-routes.ts";
import { createHttpRoutes } from "./http-routes.ts";
import { createOperations } from "./operations.ts";
import { convertApiError, toA2aError } from "./refusals.ts";
import { createExtensionHeaders } from "./request-headers.ts";
import { createRpcRoute } from "./rpc-routes.ts";

/** The A2A surface: sessions as contexts, prompts as tasks, over JSON-RPC and HTTP+JSON. */
export function createA2aSurface(options: A2aOptions): RouteGroup {
  const operations = createOperations(options);
  const routes = [
    createRpcRoute(options, operations),
    ...createHttpRoutes(options, operations).map(withHttpErrors),
  ];
  return {
    routes: [
      createCardRoute(options),
      ...createPushKeyRoutes(options),
      ...createGuardedRoutes(routes, options),
    ],
    formatError: formatApiError,
  };
}

function withHttpErrors(route: GuardedRoute): GuardedRoute {
  return {
    ...route,
    async handle(request, params, caller) {
      try {
        const response = await route.handle(request, params, caller);
        return {
          ...response,
          headers: { ...response.headers, ...createExtensionHeaders(request) },
        };
      } catch (error) {
        // The router formats these with their status and headers.
        const isKept = error instanceof ApiError && KEPT_STATUSES.has(error.status);
        const refusal = isKept ? undefined : toA2aError(error);
        if (refusal === undefined) throw error;
        return formatHttpError(refusal);
      }
    },
  };
}

/** Statuses without a meaning in A2A. Clients and proxies know them: too large, too many requests, unavailable. */
const KEPT_STATUSES: ReadonlySet<number> = new Set([413, 429, 503]);

function formatHttpError(error: A2aError): ServedResponse {
  const { httpStatus } = readReasonCodes(error.reason);
  return createJsonResponse(httpStatus, encodeHttpError(error, httpStatus));
}

/** Errors of the HTTP server, such as a missing key, keep their status and headers. */
function formatApiError(error: ApiError): ServedResponse {
  const { status, headers } = error;
  return createJsonResponse(status, encodeHttpError(convertApiError(error), status), headers);
}
