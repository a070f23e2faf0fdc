import type { ErrorCode } from "../domain/errors.ts";
import { ApiError, apiErrorOf, bridgeFailed, type ErrorForm } from "./api-error.ts";
import type { Refusal } from "./refusal.ts";
import type { RequestHead, ServedAnswer, ServedRequest } from "./served.ts";
import { unescaped } from "./unescaped.ts";

export interface Route {
  /** Of an answer to HEAD the server leaves the body out. */
  readonly method: "GET" | "HEAD" | "POST" | "DELETE" | "OPTIONS";
  /** A segment that begins with a colon is a label: `/sessions/:id`. */
  readonly path: string;
  /** Throws for whoever may not call, before a byte of their body is kept. */
  admit?(head: RequestHead): void;
  handle(request: ServedRequest, labels: Labels): Promise<ServedAnswer>;
}

/** Unescaped. */
export interface Labels {
  readonly [name: string]: string;
}

/** Routes whose errors look alike. A path that no route fits is of the group that has its first segment. */
export interface RouteGroup {
  readonly routes: readonly Route[];
  readonly errors: ErrorForm;
}

/** What a server needs to serve routes. */
export interface Router {
  /** The answer to a request whose body nobody will look at. */
  admit(head: RequestHead): ServedAnswer | undefined;
  handle(request: ServedRequest): Promise<ServedAnswer>;
  refuse(refusal: Refusal): ServedAnswer;
  /** The pattern that a path fits: unlike the path it names no session. */
  routeOf(path: string): string;
}

/** Answers by the first route that fits. What belongs to no group is answered in the form of the first one. */
export function router(
  groups: readonly [RouteGroup, ...RouteGroup[]],
  onBug: (error: unknown) => void,
): Router {
  const routes = groups.flatMap((group) => group.routes.map(compiled));
  const known = groups.map(({ routes: own, errors }) => ({
    segments: new Set<string | undefined>(own.map(({ path }) => firstSegment(path))),
    errors,
  }));
  const formOf = (path: string): ErrorForm =>
    known.find(({ segments }) => segments.has(firstSegment(path)))?.errors ?? groups[0].errors;
  const failed = (error: unknown, path: string, isGone = false): ServedAnswer => {
    const errors = formOf(path);
    const expected = apiErrorOf(error);
    if (expected !== undefined) return errors(expected);
    if (!isGone) onBug(error);
    return errors(bridgeFailed());
  };
  return {
    admit(head) {
      try {
        matchOf(routes, head).route.admit?.(head);
        return undefined;
      } catch (error) {
        return failed(error, head.path);
      }
    },
    async handle(request) {
      try {
        const { route, labels } = matchOf(routes, request);
        return await route.handle(request, labels);
      } catch (error) {
        return failed(error, request.path, request.gone.aborted);
      }
    },
    refuse({ status, message, path, setting }) {
      const { code, ...options } = REFUSALS[status];
      const hint = setting === undefined ? {} : { hint: settingHint(...setting) };
      return formOf(path)(new ApiError(status, code, message, { ...options, ...hint }));
    },
    routeOf(path) {
      const found = path.split("/");
      return routes.find(({ wanted }) => labelsIn(wanted, found) !== undefined)?.path ?? "none";
    },
  };
}

function settingHint(name: string, value: string): string {
  return `Whoever runs it lets it in with serve.${name}: [${JSON.stringify(value)}] in the configuration`;
}

/** Each route twice, below a prefix and without it: of the addresses that people give to their clients, half have it. */
export function withAndWithout<Kind extends { readonly path: string }>(
  prefix: string,
  routes: readonly Kind[],
): Kind[] {
  return routes.flatMap((route) => [{ ...route, path: `${prefix}${route.path}` }, route]);
}

/** Undefined where there is no path at all. */
function firstSegment(path: string): string | undefined {
  return path.split("/", 2)[1];
}

const REFUSALS: {
  readonly [Status in Refusal["status"]]: {
    readonly code: ErrorCode;
    readonly reason?: string;
    readonly headers?: { readonly [name: string]: string };
  };
} = {
  400: { code: "validation_failed" },
  403: { code: "access_denied" },
  408: { code: "deadline_exceeded", reason: "request_timeout" },
  413: { code: "validation_failed", reason: "request_too_large" },
  431: { code: "validation_failed", reason: "headers_too_large" },
  503: {
    code: "overloaded",
    reason: "too_many_connections",
    headers: { "retry-after": "10" },
  },
};

/** A route with its path taken apart. */
interface CompiledRoute extends Pick<Route, "method" | "path"> {
  readonly route: Route;
  readonly wanted: readonly string[];
}

function compiled(route: Route): CompiledRoute {
  const { method, path } = route;
  return { method, path, route, wanted: path.split("/") };
}

interface Match {
  readonly route: Route;
  readonly labels: Labels;
}

function matchOf(routes: readonly CompiledRoute[], { method, path }: RequestHead): Match {
  const found = path.split("/");
  const fitting = routes.flatMap(({ route, wanted }) => {
    const labels = labelsIn(wanted, found);
    return labels === undefined ? [] : [{ route, labels }];
  });
  const match = fitting.find(({ route }) => route.method === method);
  if (match !== undefined) return match;
  if (fitting.length === 0) {
    const reason = "unknown_url";
    throw new ApiError(404, "not_found", `There is nothing at ${path}`, { reason });
  }
  const allow = [...new Set(fitting.map(({ route }) => route.method))].join(", ");
  const message = `${path} takes ${allow}, not ${method}`;
  const options = { reason: "method_not_allowed", headers: { allow } };
  throw new ApiError(405, "validation_failed", message, options);
}

function labelsIn(wanted: readonly string[], found: readonly string[]): Labels | undefined {
  if (wanted.length !== found.length) return undefined;
  if (wanted.some((segment, at) => segment !== found[at] && !segment.startsWith(":")))
    return undefined;
  const labels = new Map<string, string>();
  for (const [at, segment] of wanted.entries()) {
    if (!segment.startsWith(":")) continue;
    const label = unescaped(found[at] ?? "");
    if (label === "") return undefined;
    labels.set(segment.slice(1), label);
  }
  return Object.fromEntries(labels);
}
