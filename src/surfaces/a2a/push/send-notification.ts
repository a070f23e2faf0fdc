import { toJsonText } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { digestText } from "../../../platform/digest.ts";
import { PUSH_MEDIA_TYPES } from "../../../wire/a2a/push/push-notification.ts";
import { attemptDelivery, type DeliveryProblem } from "../../webhooks/retry-delivery.ts";
import type { Notification } from "./follow-notifications.ts";
import { PRIVATE_SETTING, type PushOptions } from "./push-context.ts";
import { formatPushKey, type StoredPush } from "./push-store.ts";
import type { SigningKey } from "./signing-key.ts";

/** Sends a notification once. Undefined if the receiver accepted the notification. */
export function sendNotification(
  push: StoredPush,
  notification: Notification,
  key: SigningKey,
  { options, signal }: { readonly options: PushOptions; readonly signal: AbortSignal },
): Promise<DeliveryProblem | undefined> {
  const { allowPrivate, timeoutMs } = options;
  const body = toJsonText(notification.body);
  const headers = {
    ...createHeaders(push, notification, options),
    ...signBody(body, key, options),
  };
  const url = new URL(push.config.url);
  const request = { url, headers, body, allowPrivate, setting: PRIVATE_SETTING };
  return attemptDelivery({ ...request, ...omitUndefined({ timeoutMs }) }, signal);
}

function createHeaders(
  push: StoredPush,
  { sequence }: Notification,
  { version }: PushOptions,
): { readonly [name: string]: string } {
  const { token, authentication } = push.config;
  const { scheme, credentials } = authentication ?? {};
  return {
    "content-type": PUSH_MEDIA_TYPES[push.version],
    "user-agent": `spanline/${version}`,
    "a2a-version": push.version,
    ...(token !== undefined && { "x-a2a-notification-token": token }),
    ...(credentials !== undefined && { authorization: `${scheme} ${credentials}` }),
    // The same for every attempt, so that the receiver can drop a repetition.
    "spanline-id": `push_${digestText(`${formatPushKey(push)}/${sequence}`).slice(0, 26)}`,
    "spanline-sequence": String(sequence),
  };
}

/** The signature covers the time, so that the receiver can reject a copy that is sent later. */
function signBody(
  body: string,
  key: SigningKey,
  { clock }: PushOptions,
): { readonly [name: string]: string } {
  const timestamp = Math.floor(clock.now() / 1000);
  return {
    "spanline-timestamp": String(timestamp),
    "spanline-key-id": key.keyId,
    "spanline-signature": `v1a=${key.sign(`${timestamp}.${body}`)}`,
  };
}
