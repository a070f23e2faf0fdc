import { isObject } from "./json.ts";

/**
 * JSON without spaces and with sorted keys (RFC 8785), so that equal values give equal text.
 *
 * Works with its own stack: what a tool returned may be nested deeper than calls can be, and an encoder never throws.
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

/** Text to write as it is, or a value still to be written. */
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
