import type { ServedRequest } from "./served.ts";
import { headerOf } from "./header.ts";
import { invalid } from "./json-body.ts";

/** The caller's name for what it asks for: asked for again under it, it is done once. */
export function idempotencyKeyOf(request: ServedRequest): string | undefined {
  const key = headerOf(request, "idempotency-key");
  if (key === undefined) return undefined;
  if (!/^[!-~]{1,200}$/.test(key)) {
    throw invalid("The Idempotency-Key is not 1 to 200 visible ASCII characters");
  }
  return key;
}
