import { createHmac, timingSafeEqual } from "node:crypto";
import { toCanonicalJson } from "./digest.ts";

/** HMAC-SHA256 of a value, as base64url. Equal values have equal codes, independent of key order. */
export function computeHmac(secret: string, content: unknown): string {
  return createHmac("sha256", secret).update(toCanonicalJson(content)).digest("base64url");
}

/** Compares in constant time, which does not reveal where two codes differ. */
export function isSameHmac(first: string, second: string): boolean {
  const [left, right] = [Buffer.from(first), Buffer.from(second)];
  return left.length === right.length && timingSafeEqual(left, right);
}
