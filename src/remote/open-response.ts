import { guardInvocation, type InvocationGuard, type Timer } from "../async/invocation-guard.ts";
import { AbortError } from "../domain/provider/provider-error.ts";
import { createLimitError, type LimitName, type TimeLimits } from "./time-limits.ts";

export interface OpenResponseOptions<Answer> {
  readonly clock: Timer;
  readonly limits: TimeLimits;
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** Finds out what to send, where that is not known yet, and sends it. */
  readonly send: (signal: AbortSignal) => Promise<Answer>;
}

/** An answer that has begun, and the guard of its call, which goes on waiting for the first event. */
export interface OpenedResponse<Answer> {
  readonly response: Answer;
  readonly guard: InvocationGuard<LimitName>;
}

/** Makes a call within its limits. Rejects as long as there is no answer; whoever reads the answer releases the guard. */
export async function openResponse<Answer>(
  options: OpenResponseOptions<Answer>,
): Promise<OpenedResponse<Answer>> {
  const { clock, limits, signal, send } = options;
  const total = { limit: "total", milliseconds: limits.total } as const;
  const guard = guardInvocation<LimitName>(clock, signal, total);
  guard.startWait("firstEvent", limits.firstEvent);
  try {
    return { response: await send(guard.signal), guard };
  } catch (error) {
    guard.release();
    const wasSent = error instanceof AbortError && error.wasSent;
    if (guard.reachedLimit !== null && guard.reachedLimit !== "rest")
      throw createLimitError(guard.reachedLimit, limits, { phase: wasSent ? "http" : "connect" });
    throw signal.aborted ? new AbortError(signal.reason, wasSent) : error;
  }
}
