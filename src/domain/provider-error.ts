import { errorFrom, SpanlineError, type ErrorCode, type Failure } from "./errors.ts";

/** How far a call had come: nothing was sent yet, no answer but an error came, or it was inside the stream. */
export type Phase = "connect" | "http" | "stream";

export interface ProviderErrorFacts {
  readonly phase: Phase;
  /** The service's id of the call, for its support. */
  readonly requestId?: string;
  /** Of the HTTP answer. */
  readonly status?: number;
  readonly details?: Failure["details"];
  readonly cause?: unknown;
}

/** A call to a provider failed. The class, and the code with it, is the same in every phase. */
export class ProviderError extends SpanlineError {
  readonly phase: Phase;
  readonly requestId: string | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, facts: ProviderErrorFacts) {
    const { phase, requestId, status, cause } = facts;
    const known = {
      phase,
      ...(requestId !== undefined && { requestId }),
      ...(status !== undefined && { status }),
    };
    super(code, message, { details: { ...facts.details, ...known }, cause });
    this.phase = phase;
    this.requestId = requestId;
    this.status = status;
  }
}

function failingWith(code: ErrorCode) {
  return class extends ProviderError {
    constructor(message: string, facts: ProviderErrorFacts) {
      super(code, message, facts);
    }
  };
}

/** Nothing was sent. */
export class ConnectFailedError extends failingWith("connect_failed") {}
/** The request was sent, and may have had its effect. */
export class ConnectionLostError extends failingWith("connection_lost") {}
export class FirstEventTimeoutError extends failingWith("first_event_timeout") {}
export class IdleTimeoutError extends failingWith("idle_timeout") {}
export class DeadlineExceededError extends failingWith("deadline_exceeded") {}
export class ValidationFailedError extends failingWith("validation_failed") {}
export class UnauthorizedError extends failingWith("unauthorized") {}
export class QuotaExceededError extends failingWith("quota_exceeded") {}
export class AccessDeniedError extends failingWith("access_denied") {}
export class NotFoundError extends failingWith("not_found") {}
export class ConflictError extends failingWith("conflict") {}
/** The agent's own failure, passed on by the service. */
export class AgentFailedError extends failingWith("agent_failed") {}
export class ThrottledError extends failingWith("throttled") {}
export class ServiceFailedError extends failingWith("service_failed") {}
/** A failure with a name that this version does not know. */
export class UnknownExceptionError extends failingWith("unknown_exception") {}
/** A success by its status, but not what the service promises. */
export class UnexpectedAnswerError extends failingWith("unexpected_answer") {}

const CLASSES = {
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
  unexpected_answer: UnexpectedAnswerError,
} as const;

export type ProviderErrorCode = keyof typeof CLASSES;

export function providerError(
  code: ProviderErrorCode,
  message: string,
  facts: ProviderErrorFacts,
): ProviderError {
  return new CLASSES[code](message, facts);
}

/** The error that a failure inside a stream stands for, to be thrown by those who would rather catch than look. */
export function errorOf(failure: Failure): SpanlineError {
  const { code, message, details } = failure;
  if (!isProviderErrorCode(code)) return errorFrom(failure);
  const { phase, requestId, status } = details;
  return providerError(code, message, {
    phase: phase === "connect" || phase === "http" ? phase : "stream",
    ...(typeof requestId === "string" && { requestId }),
    ...(typeof status === "number" && { status }),
    details,
  });
}

function isProviderErrorCode(code: ErrorCode): code is ProviderErrorCode {
  return Object.hasOwn(CLASSES, code);
}

/** The caller ended it; `cause` is the reason of the signal. Named as the platform names it. */
export class AbortError extends SpanlineError {
  /** Whether the request may have reached the other side, and had its effect there. */
  readonly sent: boolean;

  constructor(reason: unknown, sent = true) {
    super("aborted", "The call was aborted", { cause: reason, details: { sent } });
    this.name = "AbortError";
    this.sent = sent;
  }
}
