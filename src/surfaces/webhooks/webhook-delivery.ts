import { createHmac } from "node:crypto";
import { pause } from "../../async/pause.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { WebhookEvent } from "../../domain/webhook-events.ts";
import type { Clock } from "../../platform/clock.ts";
import { sendWebhook } from "./send-webhook.ts";

/** A configured receiver. */
export interface Webhook {
  readonly url: string;
  /** Signs every message. */
  readonly secret: string;
  /** Default: all events. */
  readonly events?: readonly WebhookEvent[];
  /** Default: false. */
  readonly allowPrivate?: boolean;
  /** Adds the title, the action and the arguments. Default: false. */
  readonly details?: boolean;
}

export interface Delivery {
  readonly id: string;
  readonly event: WebhookEvent;
  readonly body: string;
}

export interface DeliveryContext {
  readonly clock: Clock;
  readonly version: string;
  readonly report: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/** Milliseconds before the second, third, … attempt: about 4 hours in total. */
const RETRY_DELAYS_MS = [1000, 5000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000];

/**
 * Delivers a message. Repeats a failed attempt, and resolves with false after the last. Rejects only if the signal
 * aborts.
 */
export async function deliverWebhook(
  webhook: Webhook,
  delivery: Delivery,
  context: DeliveryContext,
): Promise<boolean> {
  for (const delay of [...RETRY_DELAYS_MS, undefined]) {
    const problem = await attemptDelivery(webhook, delivery, context);
    if (problem === undefined) return true;
    context.signal.throwIfAborted();
    if (delay === undefined || problem.isFinal) {
      const { origin, pathname } = new URL(webhook.url);
      const what = `The webhook ${origin}${pathname} did not get ${delivery.event} (${delivery.id})`;
      context.report(new Error(`${what}: ${problem.message}`));
      return false;
    }
    await pause(context.clock, delay, context.signal);
  }
  return false;
}

interface DeliveryProblem {
  readonly message: string;
  /** A repeated attempt would fail, too. */
  readonly isFinal: boolean;
}

async function attemptDelivery(
  { url, secret, allowPrivate = false }: Webhook,
  { id, event, body }: Delivery,
  { clock, version, signal }: DeliveryContext,
): Promise<DeliveryProblem | undefined> {
  const timestamp = Math.floor(clock.now() / 1000);
  const headers = {
    "content-type": "application/json",
    "user-agent": `spanline/${version}`,
    "spanline-event": event,
    "spanline-id": id,
    "spanline-timestamp": String(timestamp),
    "spanline-signature": signWebhook(secret, timestamp, body),
  };
  try {
    const status = await sendWebhook({ url: new URL(url), headers, body, allowPrivate }, signal);
    if (status >= 200 && status < 300) return undefined;
    // The receiver no longer exists.
    return { message: `the response has the status ${status}`, isFinal: status === 410 };
  } catch (error) {
    const isRefused = error instanceof SpanlineError && error.code === "access_denied";
    return { message: error instanceof Error ? error.message : String(error), isFinal: isRefused };
  }
}

/**
 * The value of the header `spanline-signature`: HMAC-SHA-256 of the timestamp, a full stop and the body, in
 * hexadecimal. The timestamp lets the receiver reject a copy that is sent later.
 */
function signWebhook(secret: string, timestamp: number, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
