import { createGuardedRoutes } from "../../http/routing/guarded-routes.ts";
import { createJsonResponse } from "../../http/routing/json-response.ts";
import type { GuardedRoute } from "../../http/routing/guarded-routes.ts";
import type { RouteGroup } from "../../http/routing/router.ts";
import type { ApiError } from "../../http/routing/api-error.ts";
import type { ServedResponse } from "../../http/server/http-types.ts";
import { encodeHttpError, getReasonFacts, type A2aError } from "../../wire/a2a/a2a-error.ts";
import type { A2aOptions } from "./a2a-context.ts";
import { createCardRoute } from "./card-routes.ts";
import { createHttpRoutes } from "./http-routes.ts";
import { createOperations } from "./operations.ts";
import { toA2a, toA2aError } from "./refusals.ts";
import { createRpcRoute } from "./rpc-routes.ts";

/** The A2A surface: sessions as contexts, prompts as tasks, over JSON-RPC and HTTP+JSON. */
export function createA2aSurface(options: A2aOptions): RouteGroup {
  const operations = createOperations(options);
  const routes = [
    createRpcRoute(options, operations),
    ...createHttpRoutes(options, operations).map(withHttpErrors),
  ];
  return {
    routes: [createCardRoute(options), ...createGuardedRoutes(routes, options)],
    formatError: formatApiError,
  };
}

function withHttpErrors(route: GuardedRoute): GuardedRoute {
  return {
    ...route,
    async handle(request, params, caller) {
      try {
        return await route.handle(request, params, caller);
      } catch (error) {
        const refusal = toA2aError(error);
        if (refusal === undefined) throw error;
        return formatHttpError(refusal, getReasonFacts(refusal.reason).httpStatus);
      }
    },
  };
}

function formatHttpError(
  error: A2aError,
  status: number,
  headers: ServedResponse["headers"] = {},
): ServedResponse {
  return createJsonResponse(status, encodeHttpError(error, status), headers);
}

/** Errors before a handler runs, such as a missing key, keep their HTTP status. */
function formatApiError(error: ApiError): ServedResponse {
  return formatHttpError(toA2a(error), error.status, error.headers);
}
