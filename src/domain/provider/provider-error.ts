import { toSpanlineError, SpanlineError, type ErrorCode, type Failure } from "../errors.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** How far a call had come: nothing was sent yet, no answer but an error came, or it was inside the stream. */
export type RequestPhase = "connect" | "http" | "stream";

export interface ProviderErrorDetails {
  readonly phase: RequestPhase;
  /** The service's id of the call, for its support. */
  readonly requestId?: string;
  /** Of the HTTP answer. */
  readonly status?: number;
  readonly details?: Failure["details"];
  readonly cause?: unknown;
}

/** A call to a provider failed. The class, and the code with it, is the same in every phase. */
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

/** Nothing was sent. */
export class ConnectFailedError extends createErrorClass("connect_failed") {}
/** The request was sent, and may have had its effect. */
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
/** The agent's own failure, passed on by the service. */
export class AgentFailedError extends createErrorClass("agent_failed") {}
export class ThrottledError extends createErrorClass("throttled") {}
export class ServiceFailedError extends createErrorClass("service_failed") {}
/** A failure with a name that this version does not know. */
export class UnknownExceptionError extends createErrorClass("unknown_exception") {}
/** A success by its status, but not what the service promises. */
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

/** The error that a failure inside a stream stands for, to be thrown by those who would rather catch than look. */
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

/** The caller ended it; `cause` is the reason of the signal. Named as the platform names it. */
export class AbortError extends SpanlineError {
  /** Whether the request may have reached the other side, and had its effect there. */
  readonly wasSent: boolean;

  constructor(reason: unknown, sent = true) {
    super("aborted", "The call was aborted", { cause: reason, details: { sent } });
    this.name = "AbortError";
    this.wasSent = sent;
  }
}
