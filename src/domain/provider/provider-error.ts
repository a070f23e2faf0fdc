import { toSpanlineError, SpanlineError, type ErrorCode, type Failure } from "../errors.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Progress of a request when it failed. `connect`: nothing was sent. `http`: the response was an error. `stream`: the
 * response stream had begun.
 */
export type RequestPhase = "connect" | "http" | "stream";

export interface ProviderErrorDetails {
  readonly phase: RequestPhase;
  /** The provider's request id, for its support. */
  readonly requestId?: string;
  /** HTTP status of the response. Absent if there was none. */
  readonly status?: number;
  readonly details?: Failure["details"];
  readonly cause?: unknown;
}

/** A request to a provider failed. A given failure has the same class and code in every phase. */
export class ProviderError extends SpanlineError {
  readonly phase: RequestPhase;
  readonly requestId: string | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, facts: ProviderErrorDetails) {
    const { phase, requestId, status, cause } = facts;
    const known = {
      phase,
      ...omitUndefined({ requestId, status }),
    };
    super(code, message, { details: { ...facts.details, ...known }, cause });
    this.phase = phase;
    this.requestId = requestId;
    this.status = status;
  }
}

function createErrorClass(code: ErrorCode) {
  return class extends ProviderError {
    constructor(message: string, facts: ProviderErrorDetails) {
      super(code, message, facts);
    }
  };
}

/** Nothing was sent, so a retry is safe. */
export class ConnectFailedError extends createErrorClass("connect_failed") {}
/** The request was sent and may have taken effect. */
export class ConnectionLostError extends createErrorClass("connection_lost") {}
export class FirstEventTimeoutError extends createErrorClass("first_event_timeout") {}
export class IdleTimeoutError extends createErrorClass("idle_timeout") {}
export class DeadlineExceededError extends createErrorClass("deadline_exceeded") {}
export class ValidationFailedError extends createErrorClass("validation_failed") {}
export class UnauthorizedError extends createErrorClass("unauthorized") {}
export class QuotaExceededError extends createErrorClass("quota_exceeded") {}
export class AccessDeniedError extends createErrorClass("access_denied") {}
export class NotFoundError extends createErrorClass("not_found") {}
export class ConflictError extends createErrorClass("conflict") {}
/** The agent itself failed; the service forwarded the failure. */
export class AgentFailedError extends createErrorClass("agent_failed") {}
export class ThrottledError extends createErrorClass("throttled") {}
export class ServiceFailedError extends createErrorClass("service_failed") {}
/** A failure whose name is unknown to this version. */
export class UnknownExceptionError extends createErrorClass("unknown_exception") {}
/** The status signals success, but the body is not the documented response. */
export class UnexpectedResponseError extends createErrorClass("unexpected_answer") {}

const ERROR_CLASSES = {
  connect_failed: ConnectFailedError,
  connection_lost: ConnectionLostError,
  first_event_timeout: FirstEventTimeoutError,
  idle_timeout: IdleTimeoutError,
  deadline_exceeded: DeadlineExceededError,
  validation_failed: ValidationFailedError,
  unauthorized: UnauthorizedError,
  quota_exceeded: QuotaExceededError,
  access_denied: AccessDeniedError,
  not_found: NotFoundError,
  conflict: ConflictError,
  agent_failed: AgentFailedError,
  throttled: ThrottledError,
  service_failed: ServiceFailedError,
  unknown_exception: UnknownExceptionError,
  unexpected_answer: UnexpectedResponseError,
} as const;

export type ProviderErrorCode = keyof typeof ERROR_CLASSES;

export function createProviderError(
  code: ProviderErrorCode,
  message: string,
  facts: ProviderErrorDetails,
): ProviderError {
  return new ERROR_CLASSES[code](message, facts);
}

/** Converts a failure from a stream into an error, for callers which prefer exceptions to events. */
export function toError(failure: Failure): SpanlineError {
  const { code, message, details } = failure;
  if (!isProviderErrorCode(code)) return toSpanlineError(failure);
  const { phase, requestId, status } = details;
  return createProviderError(code, message, {
    phase: phase === "connect" || phase === "http" ? phase : "stream",
    ...(typeof requestId === "string" && { requestId }),
    ...(typeof status === "number" && { status }),
    details,
  });
}

function isProviderErrorCode(code: ErrorCode): code is ProviderErrorCode {
  return Object.hasOwn(ERROR_CLASSES, code);
}

/** The caller aborted; `cause` is the reason of the signal. Its name equals the platform's `AbortError`. */
export class AbortError extends SpanlineError {
  /** Whether the request may have reached the provider and taken effect. */
  readonly wasSent: boolean;

  constructor(reason: unknown, sent = true) {
    super("aborted", "The invocation was aborted", { cause: reason, details: { sent } });
    this.name = "AbortError";
    this.wasSent = sent;
  }
}
