import { createHmac, timingSafeEqual } from "node:crypto";
import { toCanonicalJson } from "./digest.ts";

/** A code that only who has the key can make, the same for values that are the same. */
export function computeHmac(secret: string, content: unknown): string {
  return createHmac("sha256", secret).update(toCanonicalJson(content)).digest("base64url");
}

/** Takes as long whether they differ early, late or not at all. */
export function isSameHmac(first: string, second: string): boolean {
  const [left, right] = [Buffer.from(first), Buffer.from(second)];
  return left.length === right.length && timingSafeEqual(left, right);
}
