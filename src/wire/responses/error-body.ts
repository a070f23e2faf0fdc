import { SpanlineError, type ErrorCode, type Failure } from "../../domain/errors.ts";

/** An error as every answer and every event carries one. */
export interface ErrorPayload {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

/** An answer that is no success, before its headers are known. */
export interface RefusedAnswer {
  readonly status: number;
  readonly body: { readonly error: ErrorPayload };
}

/** What is answered to a request that failed so. What is not an error of ours is our mistake, and told as no more. */
export function errorAnswer(thrown: unknown): RefusedAnswer {
  if (!(thrown instanceof SpanlineError)) return { status: 500, body: { error: UNEXPECTED } };
  const failure = thrown.toFailure();
  return { status: statusOf(failure), body: { error: errorPayload(failure) } };
}

/** The same over a WebSocket, where there is no status but in the frame. */
export function errorFrame({ status, body }: RefusedAnswer): {
  readonly type: "error";
  readonly status: number;
  readonly error: ErrorPayload;
} {
  return { type: "error", status, ...body };
}

function errorPayload(failure: Failure): ErrorPayload {
  const { param, code } = failure.details;
  return {
    message: failure.message,
    type: typeOf(statusOf(failure)),
    param: typeof param === "string" ? param : null,
    code: typeof code === "string" ? code : failure.code,
  };
}

/** `details.status` is the provider's own, and says nothing of the caller's request. */
function statusOf({ code }: Failure): number {
  return STATUSES.get(code) ?? 500;
}

function typeOf(status: number): string {
  if (status === 404) return "not_found";
  if (status === 429) return "too_many_requests";
  return status < 500 ? "invalid_request_error" : "server_error";
}

const UNEXPECTED: ErrorPayload = {
  message: "Something went wrong here; the log of the server says what",
  type: "server_error",
  param: null,
  code: "internal_error",
};

const STATUSES: ReadonlyMap<ErrorCode, number> = new Map<ErrorCode, number>([
  ["invalid_message", 400],
  ["invalid_tool", 400],
  ["invalid_option", 400],
  ["unreadable_input", 400],
  ["validation_failed", 400],
  ["event_too_large", 413],
  ["unexpected_content_type", 415],
  ["unauthorized", 401],
  ["access_denied", 403],
  ["not_found", 404],
  ["conflict", 409],
  ["name_taken", 409],
  ["lease_held", 409],
  ["throttled", 429],
  ["quota_exceeded", 429],
  ["first_event_timeout", 504],
  ["idle_timeout", 504],
  ["deadline_exceeded", 504],
  ["connect_failed", 502],
  ["connection_lost", 502],
]);
