import type { Access } from "../access/access.ts";
import type { Caller } from "../access/caller.ts";
import type { RateLimits } from "../access/rate-limits.ts";
import type { PathParams, Route } from "./router.ts";
import type { ServedResponse, ServedRequest } from "../server/http-types.ts";

/** A route for authenticated callers. */
export interface GuardedRoute {
  readonly method: Route["method"];
  readonly path: string;
  handle(request: ServedRequest, labels: PathParams, caller: Caller): Promise<ServedResponse>;
}

export interface RouteGuard {
  readonly access: Access;
  readonly rates?: RateLimits;
}

/** Authenticates the caller and counts the request against the rate limit before the handler runs. */
export function createGuardedRoutes(
  routes: readonly GuardedRoute[],
  { access, rates }: RouteGuard,
): Route[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    admit: (head) => void access.authenticate(head),
    async handle(request, labels) {
      const caller = access.authenticate(request);
      const rateHeaders = rates?.countRequest(caller.id) ?? {};
      const answer = await route.handle(request, labels, caller);
      return { ...answer, headers: { ...rateHeaders, ...answer.headers } };
    },
  }));
}
