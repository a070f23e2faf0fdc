import { createHmac } from "node:crypto";

/**
 * The value of the header `spanline-signature`: HMAC-SHA-256 of the timestamp, a full stop and the body, in
 * hexadecimal. The timestamp lets the receiver reject a copy that is sent later.
 */
export function signWebhook(secret: string, timestamp: number, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
