import type { HeaderField, ServedAnswer, ServedRequest } from "../http/served.ts";
import { ConnectionReset } from "../http/connection-reset.ts";
import type { Refusal } from "../http/refusal.ts";
import { httpTime } from "../platform/time-text.ts";
import { ServiceError, type Outgoing, type Route } from "./exchange.ts";
import { findRoute } from "./router.ts";

/** A route, and who may take it. */
export interface GuardedRoute extends Route {
  /** Throws a ServiceError to keep a request out. */
  guard(request: ServedRequest): void;
}

export interface ServiceOptions {
  readonly routes: readonly GuardedRoute[];
  readonly now: () => number;
  readonly newRequestId: () => string;
  readonly onBug: (error: unknown) => void;
}

export interface Service {
  handle(request: ServedRequest): Promise<ServedAnswer>;
  refuse(refusal: Refusal): ServedAnswer;
}

/** Answers as the service does: errors as JSON with their type in a header, and on every answer an id and the time. */
export function service({ routes, now, newRequestId, onBug }: ServiceOptions): Service {
  const finished = (answer: Outgoing, requestId: string): ServedAnswer => ({
    ...answer,
    // Clients correct their clocks by this date, so it has to be the one that signatures are checked by.
    headers: { date: httpTime(now()), "x-amzn-requestid": requestId, ...answer.headers },
  });
  return {
    async handle(request) {
      const requestId = newRequestId();
      try {
        return finished(await answerOf(routes, request, requestId), requestId);
      } catch (error) {
        if (error instanceof ConnectionReset) throw error;
        if (!(error instanceof ServiceError)) onBug(error);
        return finished(errorAnswer(error), requestId);
      }
    },
    refuse({ status, message }) {
      return finished(
        errorAnswer(new ServiceError(status, REFUSALS[status], message)),
        newRequestId(),
      );
    },
  };
}

const REFUSALS: { readonly [Status in Refusal["status"]]: string } = {
  400: "BadRequestException",
  403: "AccessDeniedException",
  408: "RequestTimeoutException",
  413: "RequestEntityTooLargeException",
  431: "RequestHeaderFieldsTooLargeException",
  503: "ServiceUnavailableException",
};

async function answerOf(
  routes: readonly GuardedRoute[],
  request: ServedRequest,
  requestId: string,
): Promise<Outgoing> {
  const { method, path, body, gone } = request;
  const match = findRoute(routes, method, path);
  if (match === undefined) {
    throw new ServiceError(404, "UnknownOperationException", `There is no ${method} ${path}`);
  }
  match.route.guard(request);
  const incoming = {
    method,
    path,
    query: new URLSearchParams(request.query),
    headers: joined(request.headers),
    body,
    requestId,
    gone,
  };
  return match.route.handle(incoming, match.labels);
}

function joined(fields: readonly HeaderField[]): { readonly [name: string]: string } {
  const headers = new Map<string, string>();
  for (const [name, value] of fields) {
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}

/** What is no error of the service is a bug of ours: its details are for `onBug`, not for clients. Never throws. */
function errorAnswer(thrown: unknown): Outgoing {
  const error =
    thrown instanceof ServiceError
      ? thrown
      : new ServiceError(500, "InternalServerException", "The emulator failed; its log says why");
  return {
    status: error.status,
    headers: { "content-type": "application/json", "x-amzn-errortype": error.type },
    body: errorBody(error),
  };
}

/** The plain words are for an error that has no JSON form or one that is too long. */
function errorBody({ message, members }: ServiceError): Buffer {
  try {
    return Buffer.from(JSON.stringify({ message, ...members }));
  } catch {
    return Buffer.from('{"message":"The error cannot be shown"}');
  }
}
