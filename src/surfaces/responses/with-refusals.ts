import { SpanlineError } from "../../domain/errors.ts";
import { ApiError } from "../../http/api-error.ts";
import type { GuardedRoute } from "../../http/guarded-routes.ts";

/** What a request's reader found wrong names its field and has a word of its own: the answer has both. */
export function withRefusals(route: GuardedRoute): GuardedRoute {
  return {
    method: route.method,
    path: route.path,
    async handle(request, labels, caller) {
      try {
        return await route.handle(request, labels, caller);
      } catch (error) {
        throw refusalOf(error);
      }
    },
  };
}

export function refusalOf(error: unknown): unknown {
  if (!(error instanceof SpanlineError) || error instanceof ApiError) return error;
  const { param, code: reason } = error.details;
  if (typeof reason !== "string") return error;
  const status = error.code === "not_found" ? 404 : 400;
  return new ApiError(status, error.code, error.message, {
    reason,
    ...(typeof param === "string" && { param }),
    cause: error,
  });
}
