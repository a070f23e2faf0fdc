import { pause } from "../../async/pause.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import { sendWebhook, type WebhookRequest } from "./send-webhook.ts";

/** Why an attempt failed. */
export interface DeliveryProblem {
  readonly message: string;
  /** A repeated attempt would fail, too. */
  readonly isFinal: boolean;
}

/** Milliseconds before the second, third, … attempt: about 4 hours in total. */
const RETRY_DELAYS_MS = [1000, 5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000];

/**
 * Repeats a failed attempt. Resolves with undefined after a success, and with the last problem after the last attempt.
 * Rejects if the signal aborts.
 */
export async function retryDelivery(
  attempt: () => Promise<DeliveryProblem | undefined>,
  clock: Clock,
  signal: AbortSignal,
): Promise<DeliveryProblem | undefined> {
  for (const delay of [...RETRY_DELAYS_MS, undefined]) {
    const problem = await attempt();
    if (problem === undefined) return undefined;
    signal.throwIfAborted();
    if (delay === undefined || problem.isFinal) return problem;
    await pause(clock, delay, signal);
  }
  return undefined;
}

/** Sends a message once. Undefined if the receiver accepted the message. */
export async function attemptDelivery(
  request: WebhookRequest,
  signal: AbortSignal,
): Promise<DeliveryProblem | undefined> {
  try {
    const status = await sendWebhook(request, signal);
    if (status >= 200 && status < 300) return undefined;
    // The receiver no longer exists.
    return { message: `the response has the status ${status}`, isFinal: status === 410 };
  } catch (error) {
    const isRefused = error instanceof SpanlineError && error.code === "access_denied";
    return { message: error instanceof Error ? error.message : String(error), isFinal: isRefused };
  }
}
