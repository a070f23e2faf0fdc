import { startTimeBudget, type TimeBudget } from "../async/time-budget.ts";
import { AbortError, createProviderError } from "../domain/provider/provider-error.ts";
import { throwInvalidOption } from "../wire/agentcore/check-options.ts";
import type { ControlClient } from "./control-client.ts";
import { NO_REPORTER, type ProgressReporter } from "./progress-reporter.ts";
import { NotReadyInTimeError, WaitError, type WaitContext } from "./wait-errors.ts";

export interface PollOptions {
  readonly client: ControlClient;
  readonly signal: AbortSignal;
  /** Milliseconds, for the whole operation. Default: 10 minutes. */
  readonly timeout?: number;
  /** Milliseconds between two polls. Default: a twelfth of the timeout, from 50 to 5000. */
  readonly interval?: number;
  readonly report?: ProgressReporter;
}

/** The client, time budget, interval and reporter of a wait. */
export interface Poll {
  readonly client: ControlClient;
  readonly budget: TimeBudget;
  readonly interval: number;
  readonly report: ProgressReporter;
}

/** Measured on the service: a harness takes seconds, its endpoint two to three minutes. */
export const DEFAULT_TIMEOUT_MS = 600_000;
/** The endpoint of every harness, which serves its newest version. */
export const DEFAULT_ENDPOINT = "DEFAULT";

/** Starts the budget. The caller must release it. */
export function startPoll(options: PollOptions): Poll {
  const { client, signal, timeout = DEFAULT_TIMEOUT_MS, report = NO_REPORTER } = options;
  checkTime("timeout", timeout);
  const { interval = computeInterval(timeout) } = options;
  checkTime("interval", interval);
  return { client, budget: startTimeBudget(client.clock, signal, timeout), interval, report };
}

function checkTime(path: string, milliseconds: unknown): void {
  if (typeof milliseconds === "number" && Number.isFinite(milliseconds) && milliseconds > 0) return;
  throwInvalidOption(path, milliseconds, "milliseconds above 0");
}

/** Derived from the timeout, so that a short wait allows more than one poll. */
function computeInterval(timeout: number): number {
  return Math.min(5000, Math.max(50, Math.floor(timeout / 12)));
}

/** Replaces the error of a timed-out request by an error which names the phase of the wait. */
export function explainTimeout(
  error: unknown,
  { budget }: Pick<Poll, "budget">,
  position: Pick<WaitContext, "harness" | "phase">,
): unknown {
  const { signal, isSpent, elapsed } = budget;
  if (error instanceof WaitError || !signal.aborted) return error;
  if (!isSpent) return new AbortError(signal.reason);
  return new NotReadyInTimeError({ ...position, status: null, elapsed, polls: 0 });
}

/** Runs `work` within a time budget. */
export async function withPoll<Value>(
  options: PollOptions,
  work: (poll: Poll) => Promise<Value>,
): Promise<Value> {
  const poll = startPoll(options);
  const { budget } = poll;
  try {
    return await work(poll);
  } catch (error) {
    if (error instanceof WaitError || !budget.signal.aborted) throw error;
    if (!budget.isSpent) throw new AbortError(budget.signal.reason);
    const message = `${options.client.origin} did not respond in time`;
    throw createProviderError("deadline_exceeded", message, { phase: "http", cause: error });
  } finally {
    budget.release();
  }
}
