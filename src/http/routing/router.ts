import type { ErrorCode } from "../../domain/errors.ts";
import { ApiError, toApiError, createBridgeFailedError, type ErrorFormatter } from "./api-error.ts";
import type { Refusal, RequestHead, ServedResponse, ServedRequest } from "../server/http-types.ts";
import { decodePercent } from "./decode-percent.ts";

export interface Route {
  /** For HEAD the server omits the body. */
  readonly method: "GET" | "HEAD" | "POST" | "DELETE" | "OPTIONS";
  /** A segment which starts with a colon is a parameter: `/sessions/:id`. */
  readonly path: string;
  /** Throws if the caller may not use the route. Called before the body is read. */
  admit?(head: RequestHead): void;
  handle(request: ServedRequest, labels: PathParams): Promise<ServedResponse>;
}

/** Path parameters, percent-decoded. */
export interface PathParams {
  readonly [name: string]: string;
}

/**
 * Routes with a common error format. An unknown path gets the format of the first group with the same first segment.
 */
export interface RouteGroup {
  readonly routes: readonly Route[];
  readonly formatError: ErrorFormatter;
}

/** The part of `ServerOptions` which serves routes. */
export interface Router {
  /** Returns an error response if the request is rejected before its body is read, else undefined. */
  admit(head: RequestHead): ServedResponse | undefined;
  handle(request: ServedRequest): Promise<ServedResponse>;
  refuse(refusal: Refusal): ServedResponse;
  /** The route pattern of a path, which unlike the path contains no session id. `none` if no route matches. */
  resolveRoute(path: string): string;
}

/**
 * Dispatches each request to the first matching route. Paths outside every group use the error format of the first
 * group.
 */
export function createRouter(
  groups: readonly [RouteGroup, ...RouteGroup[]],
  onBug: (error: unknown) => void,
): Router {
  const routes = groups.flatMap((group) => group.routes.map(compileRoute));
  const groupFormats = groups.map(({ routes: groupRoutes, formatError }) => ({
    segments: new Set<string | undefined>(groupRoutes.map(({ path }) => readFirstSegment(path))),
    errors: formatError,
  }));
  const resolveFormat = (path: string): ErrorFormatter =>
    groupFormats.find(({ segments }) => segments.has(readFirstSegment(path)))?.errors ??
    groups[0].formatError;
  const toErrorResponse = (
    error: unknown,
    path: string,
    isDisconnected = false,
  ): ServedResponse => {
    const errors = resolveFormat(path);
    const expected = toApiError(error);
    if (expected !== undefined) return errors(expected);
    if (!isDisconnected) onBug(error);
    return errors(createBridgeFailedError());
  };
  return {
    admit(head) {
      try {
        matchRoute(routes, head).route.admit?.(head);
        return undefined;
      } catch (error) {
        return toErrorResponse(error, head.path);
      }
    },
    async handle(request) {
      try {
        const { route, params } = matchRoute(routes, request);
        return await route.handle(request, params);
      } catch (error) {
        return toErrorResponse(error, request.path, request.disconnectSignal.aborted);
      }
    },
    refuse({ status, message, path, setting }) {
      const { code, ...options } = REFUSALS[status];
      const hint = setting === undefined ? {} : { hint: formatSettingHint(...setting) };
      return resolveFormat(path)(new ApiError(status, code, message, { ...options, ...hint }));
    },
    resolveRoute(path) {
      const segments = path.split("/");
      return (
        routes.find(({ pattern }) => matchParams(pattern, segments) !== undefined)?.path ?? "none"
      );
    },
  };
}

function formatSettingHint(name: string, value: string): string {
  return `Fix: the operator of the server allows it with serve.${name}: [${JSON.stringify(value)}] in the configuration`;
}

/** Returns each route twice, with and without the prefix: base URLs in client settings are common in both forms. */
export function duplicateWithPrefix<Kind extends { readonly path: string }>(
  prefix: string,
  routes: readonly Kind[],
): Kind[] {
  return routes.flatMap((route) => [{ ...route, path: `${prefix}${route.path}` }, route]);
}

/** Undefined if the path has no slash. */
function readFirstSegment(path: string): string | undefined {
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

/** A route with its path split into segments. */
interface CompiledRoute extends Pick<Route, "method" | "path"> {
  readonly route: Route;
  readonly pattern: readonly string[];
}

function compileRoute(route: Route): CompiledRoute {
  const { method, path } = route;
  return { method, path, route, pattern: path.split("/") };
}

interface RouteMatch {
  readonly route: Route;
  readonly params: PathParams;
}

function matchRoute(routes: readonly CompiledRoute[], { method, path }: RequestHead): RouteMatch {
  const segments = path.split("/");
  const fitting = routes.flatMap(({ route, pattern }) => {
    const params = matchParams(pattern, segments);
    return params === undefined ? [] : [{ route, params }];
  });
  const match = fitting.find(({ route }) => route.method === method);
  if (match !== undefined) return match;
  if (fitting.length === 0) {
    const reason = "unknown_url";
    throw new ApiError(404, "not_found", `No route matches ${path}`, { reason });
  }
  const allow = [...new Set(fitting.map(({ route }) => route.method))].join(", ");
  const message = `${path} accepts ${allow}, not ${method}`;
  const options = { reason: "method_not_allowed", headers: { allow } };
  throw new ApiError(405, "validation_failed", message, options);
}

function matchParams(
  pattern: readonly string[],
  segments: readonly string[],
): PathParams | undefined {
  if (pattern.length !== segments.length) return undefined;
  if (pattern.some((segment, at) => segment !== segments[at] && !segment.startsWith(":")))
    return undefined;
  const params = new Map<string, string>();
  for (const [at, segment] of pattern.entries()) {
    if (!segment.startsWith(":")) continue;
    const value = decodePercent(segments[at] ?? "");
    if (value === "") return undefined;
    params.set(segment.slice(1), value);
  }
  return Object.fromEntries(params);
}
