import { startBudget, type Budget } from "../async/budget.ts";
import { AbortError, createProviderError } from "../domain/provider/provider-error.ts";
import { throwInvalidOption } from "../wire/agentcore/check-options.ts";
import type { ControlClient } from "./control-client.ts";
import { NO_REPORTER, type ProgressReporter } from "./progress-reporter.ts";
import { NotReadyInTimeError, WaitError, type WaitContext } from "./wait-errors.ts";

export interface PollOptions {
  readonly client: ControlClient;
  readonly signal: AbortSignal;
  /** For all of it together, in milliseconds. */
  readonly timeout?: number;
  /** Between two questions, in milliseconds; a twelfth of the timeout, from 50 to 5000, when it is not given. */
  readonly interval?: number;
  readonly report?: ProgressReporter;
}

/** Who waits, for how long, how often he asks and whom he tells. */
export interface Poll {
  readonly client: ControlClient;
  readonly budget: Budget;
  readonly interval: number;
  readonly report: ProgressReporter;
}

/** Measured on the service: a harness takes seconds, its endpoint two to three minutes. */
export const DEFAULT_TIMEOUT_MS = 600_000;
/** The endpoint that every harness has, and that serves its newest version. */
export const DEFAULT_ENDPOINT = "DEFAULT";

/** The budget runs from here on, and is the caller's to release. */
export function startPoll(options: PollOptions): Poll {
  const { client, signal, timeout = DEFAULT_TIMEOUT_MS, report = NO_REPORTER } = options;
  checkTime("timeout", timeout);
  const { interval = computeInterval(timeout) } = options;
  checkTime("interval", interval);
  return { client, budget: startBudget(client.clock, signal, timeout), interval, report };
}

function checkTime(path: string, milliseconds: unknown): void {
  if (typeof milliseconds === "number" && Number.isFinite(milliseconds) && milliseconds > 0) return;
  throwInvalidOption(path, milliseconds, "milliseconds above 0");
}

/** From the time there is, so that a short wait is not over after one question. */
function computeInterval(timeout: number): number {
  return Math.min(5000, Math.max(50, Math.floor(timeout / 12)));
}

/** A call that the time limit ended says what it was waiting for, not that it was ended. */
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

/** Does something within the time that there is for it. */
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
    const message = `${options.client.origin} did not answer in time`;
    throw createProviderError("deadline_exceeded", message, { phase: "http", cause: error });
  } finally {
    budget.release();
  }
}
