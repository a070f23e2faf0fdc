import { guardCall, type CallGuard, type Timer } from "../async/call-guard.ts";
import { AbortError } from "../domain/provider-error.ts";
import { limitError, type LimitName, type TimeLimits } from "./time-limits.ts";

export interface AnswerOpening<Answer> {
  readonly clock: Timer;
  readonly limits: TimeLimits;
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** Finds out what to send, where that is not known yet, and sends it. */
  readonly send: (signal: AbortSignal) => Promise<Answer>;
}

/** An answer that has begun, and the guard of its call, which goes on waiting for the first event. */
export interface OpenedAnswer<Answer> {
  readonly answer: Answer;
  readonly guard: CallGuard<LimitName>;
}

/** Makes a call within its limits. Rejects as long as there is no answer; whoever reads the answer releases the guard. */
export async function openAnswer<Answer>(
  opening: AnswerOpening<Answer>,
): Promise<OpenedAnswer<Answer>> {
  const { clock, limits, signal, send } = opening;
  const total = { limit: "total", milliseconds: limits.total } as const;
  const guard = guardCall<LimitName>(clock, signal, total);
  guard.wait("firstEvent", limits.firstEvent);
  try {
    return { answer: await send(guard.signal), guard };
  } catch (error) {
    guard.release();
    const sent = error instanceof AbortError && error.sent;
    if (guard.reached !== null && guard.reached !== "rest")
      throw limitError(guard.reached, limits, { phase: sent ? "http" : "connect" });
    throw signal.aborted ? new AbortError(signal.reason, sent) : error;
  }
}
