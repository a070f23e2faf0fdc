import { isObject } from "./json.ts";

/**
 * Encodes a value as JSON with sorted keys and without spaces (RFC 8785), so equal values have equal text.
 *
 * Uses an explicit stack: a tool result may be nested deeper than the call stack allows, and an encoder never throws.
 */
export function toCanonicalJson(value: unknown): string {
  let text = "";
  const pending: PendingOutput[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === "string") text += next;
    else if (Array.isArray(next.value)) pushArray(pending, next.value);
    else if (isObject(next.value)) pushObject(pending, next.value);
    else text += encodeScalar(next.value);
  }
  return text;
}

/** Text to append unchanged, or a value to encode. */
type PendingOutput = string | { readonly value: unknown };

function pushArray(pending: PendingOutput[], values: readonly unknown[]): void {
  pending.push("]");
  for (let index = values.length - 1; index >= 0; index -= 1)
    pending.push({ value: values[index] }, index > 0 ? "," : "[");
  if (values.length === 0) pending.push("[");
}

function pushObject(pending: PendingOutput[], object: { readonly [key: string]: unknown }): void {
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort();
  pending.push("}");
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? "";
    pending.push({ value: object[key] }, `${index > 0 ? "," : "{"}${JSON.stringify(key)}:`);
  }
  if (keys.length === 0) pending.push("{");
}

function encodeScalar(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  return JSON.stringify(value) ?? "null";
}
