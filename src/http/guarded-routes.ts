import type { Access } from "./access.ts";
import type { Caller } from "./caller.ts";
import type { RateLimits } from "./rate-limits.ts";
import type { Labels, Route } from "./router.ts";
import type { ServedAnswer, ServedRequest } from "./served.ts";

/** A route for those who are known. */
export interface GuardedRoute {
  readonly method: Route["method"];
  readonly path: string;
  handle(request: ServedRequest, labels: Labels, caller: Caller): Promise<ServedAnswer>;
}

export interface Guard {
  readonly access: Access;
  readonly rates?: RateLimits;
}

/** Asks who calls, and counts their requests, before anything else is done. */
export function guardedRoutes(routes: readonly GuardedRoute[], { access, rates }: Guard): Route[] {
  return routes.map((route) => ({
    method: route.method,
    path: route.path,
    admit: (head) => void access.callerOf(head),
    async handle(request, labels) {
      const caller = access.callerOf(request);
      const left = rates?.request(caller.id) ?? {};
      const answer = await route.handle(request, labels, caller);
      return { ...answer, headers: { ...left, ...answer.headers } };
    },
  }));
}
