import { createHmac } from "node:crypto";
import type { WebhookEvent } from "../../domain/webhook-events.ts";
import type { Clock } from "../../platform/clock.ts";
import { attemptDelivery, retryDelivery } from "./retry-delivery.ts";
import type { WebhookRequest } from "./send-webhook.ts";

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

/**
 * Delivers a message. Repeats a failed attempt, and resolves with false after the last. Rejects only if the signal
 * aborts.
 */
export async function deliverWebhook(
  webhook: Webhook,
  delivery: Delivery,
  context: DeliveryContext,
): Promise<boolean> {
  const { clock, signal } = context;
  const attempt = () => attemptDelivery(createRequest(webhook, delivery, context), signal);
  const problem = await retryDelivery(attempt, clock, signal);
  if (problem === undefined) return true;
  const { origin, pathname } = new URL(webhook.url);
  const what = `The webhook ${origin}${pathname} did not get ${delivery.event} (${delivery.id})`;
  context.report(new Error(`${what}: ${problem.message}`));
  return false;
}

function createRequest(
  { url, secret, allowPrivate = false }: Webhook,
  { id, event, body }: Delivery,
  { clock, version }: DeliveryContext,
): WebhookRequest {
  const timestamp = Math.floor(clock.now() / 1000);
  const headers = {
    "content-type": "application/json",
    "user-agent": `spanline/${version}`,
    "spanline-event": event,
    "spanline-id": id,
    "spanline-timestamp": String(timestamp),
    "spanline-signature": signWebhook(secret, timestamp, body),
  };
  const setting = "allowPrivate in the webhook's configuration";
  return { url: new URL(url), headers, body, allowPrivate, setting };
}

/**
 * The value of the header `spanline-signature`: HMAC-SHA-256 of the timestamp, a full stop and the body, in
 * hexadecimal. The timestamp lets the receiver reject a copy that is sent later.
 */
function signWebhook(secret: string, timestamp: number, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
