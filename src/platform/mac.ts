import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalText } from "./digest.ts";

/** A code that only who has the key can make, the same for values that are the same. */
export function macOf(secret: string, content: unknown): string {
  return createHmac("sha256", secret).update(canonicalText(content)).digest("base64url");
}

/** Takes as long whether they differ early, late or not at all. */
export function isSameMac(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
