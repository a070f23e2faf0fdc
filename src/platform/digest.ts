import { createHash } from "node:crypto";

/** The same for values that are the same, whatever the order of their keys. */
export function digestOf(value: unknown): string {
  return digestOfText(canonicalText(value));
}

export function digestOfText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

export function digestOfBytes(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** As JSON, the keys in one order. */
export function canonicalText(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) => {
      if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
      const sorted = Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1));
      // Not an object literal: a key `__proto__` is data.
      return Object.fromEntries(sorted);
    }) ?? "undefined"
  );
}
