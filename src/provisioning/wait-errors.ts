import { SpanlineError, type ErrorCode } from "../domain/errors.ts";

/**
 * The phases of a wait: creation, readiness of the harness or its endpoint, deletion of an older harness, or rollback.
 */
export type WaitPhase = "create" | "harness" | "endpoint" | "deletion" | "rollback";

/** The state of a wait. */
export interface WaitContext {
  /** The id of the harness, or its name before it has an id. */
  readonly harness: string;
  readonly phase: WaitPhase;
  /** The last known status. Null if none was read. */
  readonly status: string | null;
  /** Milliseconds since the start of the whole operation. */
  readonly elapsed: number;
  /** Number of polls in this phase. */
  readonly polls: number;
}

export interface WaitErrorFacts {
  /** The reason given by the service. */
  readonly reason?: string | null;
  readonly cause?: unknown;
}

/** A wait for a harness failed. */
export class WaitError extends SpanlineError {
  readonly wait: WaitContext;

  constructor(code: ErrorCode, message: string, wait: WaitContext, facts: WaitErrorFacts = {}) {
    const { reason, cause } = facts;
    const details = { ...wait, ...(typeof reason === "string" && { reason }) };
    super(code, `${message} (${describePolls(wait)})`, { details, cause });
    this.wait = wait;
  }
}

/** The service reports a failed harness or endpoint. */
export class HarnessFailedError extends WaitError {
  constructor(wait: WaitContext, reason: string | null) {
    const why = reason === null ? "the service gives no reason" : reason;
    super("harness_failed", `${describeSubject(wait)} is ${wait.status}: ${why}`, wait, { reason });
  }
}

/** The harness is being deleted or is deleted, so it will never be ready. */
export class HarnessDeletingError extends WaitError {
  constructor(wait: WaitContext) {
    const how = wait.status === "DELETING" ? "is being deleted" : "is gone";
    super("harness_deleting", `${describeSubject(wait)} ${how}`, wait);
  }
}

/** The status is unknown to this version, so a wait might never end. */
export class UnknownStatusError extends WaitError {
  constructor(wait: WaitContext) {
    const status = wait.status === null ? "no status" : `the unknown status ${wait.status}`;
    super("unknown_status", `${describeSubject(wait)} has ${status}`, wait);
  }
}

/** The time limit was reached before the harness or its endpoint was ready. */
export class NotReadyInTimeError extends WaitError {
  constructor(wait: WaitContext, cause?: unknown) {
    const message = `${describeSubject(wait)} was not ready in time; last seen: ${describeStatus(wait, cause)}`;
    super("not_ready_in_time", message, wait, { cause });
  }
}

/** The time limit was reached before the harness was deleted, or its deletion failed. */
export class StillDeletingError extends WaitError {
  constructor(wait: WaitContext, cause?: unknown) {
    const message = `Harness ${wait.harness} still exists after its deletion started; last seen: ${describeStatus(wait, cause)}`;
    super("still_deleting", message, wait, { cause });
  }
}

/** The name belongs to a harness which cannot be adopted (failed or with an unknown status), or which is not listed. */
export class NameTakenError extends SpanlineError {
  constructor(name: string, status: string | null, cause: unknown) {
    const found = status === null ? "no harness with this name can be found" : `it is ${status}`;
    const message = `The name ${name} is taken, and ${found}`;
    super("name_taken", message, { details: { name, status }, cause });
  }
}

function describeSubject({ harness, phase }: WaitContext): string {
  return phase === "endpoint" ? `The endpoint of harness ${harness}` : `Harness ${harness}`;
}

function describeStatus({ status }: WaitContext, cause: unknown): string {
  const failure = cause instanceof SpanlineError ? ` (${cause.message})` : "";
  return (status ?? "nothing") + failure;
}

function describePolls({ elapsed, polls }: WaitContext): string {
  const times = polls === 1 ? "1 poll" : `${polls} polls`;
  return `${times}, after ${Math.round(elapsed / 100) / 10} s`;
}
