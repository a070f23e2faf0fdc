import type { ServedRequest } from "../server/http-types.ts";
import { readHeader } from "./read-header.ts";
import { createInvalidRequestError } from "./json-body.ts";

/**
 * The caller's `Idempotency-Key`: repeated requests with the same key run once. Undefined if absent; throws if
 * malformed.
 */
export function readIdempotencyKey(request: ServedRequest): string | undefined {
  const key = readHeader(request, "idempotency-key");
  if (key === undefined) return undefined;
  if (!/^[!-~]{1,200}$/.test(key)) {
    throw createInvalidRequestError("The Idempotency-Key is not 1 to 200 visible ASCII characters");
  }
  return key;
}
