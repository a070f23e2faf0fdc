import { decodePercent } from "../../http/routing/decode-percent.ts";
import type { EmulatorRoute } from "./service-types.ts";

export interface RouteMatch<Found extends EmulatorRoute> {
  readonly route: Found;
  /** Unescaped. An ARN in the path is a single segment with escaped slashes. */
  readonly pathParams: { readonly [name: string]: string };
}

/**
 * Finds the route of a request. If two routes match, the route with fewer parameters wins: `/harnesses/invoke` before
 * `/harnesses/:id`.
 */
export function findRoute<Found extends EmulatorRoute>(
  routes: readonly Found[],
  method: string,
  path: string,
): RouteMatch<Found> | undefined {
  return routes
    .filter((route) => route.method === method)
    .flatMap((route) => {
      const pathParams = matchPath(route.path, path);
      return pathParams === undefined ? [] : [{ route, pathParams }];
    })
    .sort(
      (left, right) => Object.keys(left.pathParams).length - Object.keys(right.pathParams).length,
    )[0];
}

function matchPath(
  pattern: string,
  path: string,
): RouteMatch<EmulatorRoute>["pathParams"] | undefined {
  const patternSegments = pattern.split("/");
  const pathSegments = path.split("/");
  if (patternSegments.length !== pathSegments.length) return undefined;
  const params: [string, string][] = [];
  for (const [at, segment] of patternSegments.entries()) {
    const text = pathSegments[at] ?? "";
    if (!segment.startsWith(":")) {
      if (segment !== text) return undefined;
      continue;
    }
    const label = decodePercent(text);
    if (label === "") return undefined;
    params.push([segment.slice(1), label]);
  }
  return Object.fromEntries(params);
}
