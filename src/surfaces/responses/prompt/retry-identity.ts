import type { Caller } from "../../../http/access/caller.ts";
import { readHeader } from "../../../http/routing/read-header.ts";
import { readIdempotencyKey } from "../../../http/routing/idempotency-key.ts";
import type { ServedRequest } from "../../../http/server/http-types.ts";
import type { JsonObject } from "../../../data/json.ts";
import { digestValue } from "../../../platform/digest.ts";
import type { RetryIdentity } from "./prompt-request.ts";

/** How a request is known when it comes again: by its key, or by who says what, and that it says to be a retry. */
export function readRetryIdentity(
  request: ServedRequest,
  body: JsonObject,
  caller: Caller,
): RetryIdentity {
  const key = readIdempotencyKey(request);
  const count = readHeader(request, RETRY_HEADER) ?? "0";
  return {
    fingerprint: computeFingerprint(body, caller),
    isRepeated: /^[1-9]\d{0,3}$/.test(count),
    ...(key !== undefined && { key }),
  };
}

/** Whether it is to be streamed changes nothing of what is asked. */
export function computeFingerprint(body: JsonObject, caller: Caller): string {
  const { stream: _, stream_options: __, ...said } = body;
  return digestValue({ caller: caller.id, said });
}

/** Clients of OpenAI send it with every request. */
const RETRY_HEADER = "x-stainless-retry-count";
