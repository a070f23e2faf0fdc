import { unescaped } from "../http/unescaped.ts";
import type { Route } from "./exchange.ts";

export interface RouteMatch<Found extends Route> {
  readonly route: Found;
  /** Unescaped: an ARN in the path is one segment, its slashes escaped. */
  readonly labels: { readonly [name: string]: string };
}

/** The route for a request. Of two that fit, the one with fewer labels: `/harnesses/invoke` before `/harnesses/:id`. */
export function findRoute<Found extends Route>(
  routes: readonly Found[],
  method: string,
  path: string,
): RouteMatch<Found> | undefined {
  return routes
    .filter((route) => route.method === method)
    .flatMap((route) => {
      const labels = labelsIn(route.path, path);
      return labels === undefined ? [] : [{ route, labels }];
    })
    .sort((left, right) => Object.keys(left.labels).length - Object.keys(right.labels).length)[0];
}

function labelsIn(pattern: string, path: string): RouteMatch<Route>["labels"] | undefined {
  const wanted = pattern.split("/");
  const found = path.split("/");
  if (wanted.length !== found.length) return undefined;
  const labels: [string, string][] = [];
  for (const [at, segment] of wanted.entries()) {
    const text = found[at] ?? "";
    if (!segment.startsWith(":")) {
      if (segment !== text) return undefined;
      continue;
    }
    const label = unescaped(text);
    if (label === "") return undefined;
    labels.push([segment.slice(1), label]);
  }
  return Object.fromEntries(labels);
}
