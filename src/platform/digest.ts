import { createHash } from "node:crypto";

/** SHA-256 of a value. The order of object keys does not matter. */
export function digestValue(value: unknown): string {
  return digestText(toCanonicalJson(value));
}

export function digestText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function digestBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Encodes a value as JSON with sorted keys. */
export function toCanonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
      const sorted = Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1));
      // `Object.fromEntries` instead of an object literal: a key `__proto__` is data.
      return Object.fromEntries(sorted);
    }) ?? "undefined"
  );
}
