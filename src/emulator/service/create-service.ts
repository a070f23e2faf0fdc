import {
  type HeaderField,
  type ServedResponse,
  type ServedRequest,
  ConnectionReset,
  type Refusal,
} from "../../http/server/http-types.ts";
import { formatHttpTime } from "../../platform/clock.ts";
import { ServiceError, type EmulatorResponse, type EmulatorRoute } from "./service-types.ts";
import { decodePercent } from "../../http/routing/decode-percent.ts";

/** A route with its access check. */
export interface GuardedRoute extends EmulatorRoute {
  /** Throws a ServiceError to refuse a request. */
  guard(request: ServedRequest): void;
}

export interface ServiceOptions {
  readonly routes: readonly GuardedRoute[];
  readonly now: () => number;
  readonly createRequestId: () => string;
  readonly onBug: (error: unknown) => void;
}

export interface Service {
  handle(request: ServedRequest): Promise<ServedResponse>;
  refuse(refusal: Refusal): ServedResponse;
}

/**
 * Responds like the service: errors are JSON with their type in a header, and every response has a request id and a
 * date.
 */
export function createService({ routes, now, createRequestId, onBug }: ServiceOptions): Service {
  const addHeaders = (response: EmulatorResponse, requestId: string): ServedResponse => ({
    ...response,
    // Clients correct their clocks by this date, so it must use the clock of the signature check.
    headers: { date: formatHttpTime(now()), "x-amzn-requestid": requestId, ...response.headers },
  });
  return {
    async handle(request) {
      const requestId = createRequestId();
      try {
        return addHeaders(await routeRequest(routes, request, requestId), requestId);
      } catch (error) {
        if (error instanceof ConnectionReset) throw error;
        if (!(error instanceof ServiceError)) onBug(error);
        return addHeaders(createErrorResponse(error), requestId);
      }
    },
    refuse({ status, message }) {
      return addHeaders(
        createErrorResponse(new ServiceError(status, REFUSAL_TYPES[status], message)),
        createRequestId(),
      );
    },
  };
}

const REFUSAL_TYPES: { readonly [Status in Refusal["status"]]: string } = {
  400: "BadRequestException",
  403: "AccessDeniedException",
  408: "RequestTimeoutException",
  413: "RequestEntityTooLargeException",
  431: "RequestHeaderFieldsTooLargeException",
  503: "ServiceUnavailableException",
};

async function routeRequest(
  routes: readonly GuardedRoute[],
  request: ServedRequest,
  requestId: string,
): Promise<EmulatorResponse> {
  const { method, path, body, disconnectSignal } = request;
  const match = findRoute(routes, method, path);
  if (match === undefined) {
    throw new ServiceError(404, "UnknownOperationException", `There is no ${method} ${path}`);
  }
  match.route.guard(request);
  const emulatorRequest = {
    method,
    path,
    query: new URLSearchParams(request.query),
    headers: joinHeaders(request.headers),
    body,
    requestId,
    disconnectSignal,
  };
  return match.route.handle(emulatorRequest, match.pathParams);
}

function joinHeaders(fields: readonly HeaderField[]): { readonly [name: string]: string } {
  const headers = new Map<string, string>();
  for (const [name, value] of fields) {
    const previous = headers.get(name);
    headers.set(name, previous === undefined ? value : `${previous}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/**
 * Creates an error response. Any error except a `ServiceError` is a bug: its details go to `onBug` and not to clients.
 * Never throws.
 */
function createErrorResponse(thrown: unknown): EmulatorResponse {
  const error =
    thrown instanceof ServiceError
      ? thrown
      : new ServiceError(500, "InternalServerException", "The emulator failed; its log says why");
  return {
    status: error.status,
    headers: { "content-type": "application/json", "x-amzn-errortype": error.type },
    body: encodeErrorBody(error),
  };
}

/** Uses a fixed text if the error cannot be encoded as JSON or is too long. */
function encodeErrorBody({ message, members }: ServiceError): Buffer {
  try {
    return Buffer.from(JSON.stringify({ message, ...members }));
  } catch {
    return Buffer.from('{"message":"The error cannot be shown"}');
  }
}

interface RouteMatch<Found extends EmulatorRoute> {
  readonly route: Found;
  /** Unescaped. An ARN in the path is a single segment with escaped slashes. */
  readonly pathParams: { readonly [name: string]: string };
}

/**
 * Finds the route of a request. If two routes match, the route with fewer parameters wins: `/harnesses/invoke` before
 * `/harnesses/:id`.
 */
function findRoute<Found extends EmulatorRoute>(
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
