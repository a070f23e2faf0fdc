import type { JsonObject } from "../../../data/json.ts";
import type { Caller } from "../../../http/access/caller.ts";
import { readIdempotencyKey } from "../../../http/routing/idempotency-key.ts";
import { readHeader } from "../../../http/routing/read-header.ts";
import type { ServedRequest } from "../../../http/server/http-types.ts";
import { digestValue } from "../../../platform/digest.ts";
import { readSessionHeader } from "../routes/request-headers.ts";
import type { SurfaceContext } from "../surface-context.ts";
import type { RetryIdentity } from "./prompt-request.ts";
import { isStatelessAgent } from "./stateless-agents.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** A parsed request with the data that does not depend on the wire protocol. */
export interface RequestContext<Wanted> {
  readonly request: Wanted;
  readonly caller: Caller;
  readonly retry: RetryIdentity;
  /** Whether the agent receives the whole conversation with every request. */
  readonly isStateless: boolean;
  /** The header with a session id. Absent if the caller did not send it. */
  readonly header?: { readonly name: string; readonly value: string };
}

interface ParsedRequest<Wanted> {
  readonly body: JsonObject;
  readonly parsed: Wanted;
  readonly caller: Caller;
}

export function createRequestContext<Wanted extends { readonly model?: string | null }>(
  request: ServedRequest,
  { body, parsed, caller }: ParsedRequest<Wanted>,
  surface: Pick<SurfaceContext, "sessions" | "settings">,
): RequestContext<Wanted> {
  const header = readSessionHeader(request);
  return {
    request: parsed,
    caller,
    retry: readRetryIdentity(request, body, caller),
    isStateless: isStatelessAgent(surface, parsed.model ?? null, caller),
    ...omitUndefined({ header }),
  };
}

/** Reads the identity of a request for retries: the Idempotency-Key, the fingerprint, and the caller's retry count. */
function readRetryIdentity(
  request: ServedRequest,
  body: JsonObject,
  caller: Caller,
): RetryIdentity {
  const key = readIdempotencyKey(request);
  const count = readHeader(request, RETRY_HEADER) ?? "0";
  return {
    fingerprint: computeFingerprint(body, caller),
    isRepeated: /^[1-9]\d{0,3}$/.test(count),
    ...omitUndefined({ key }),
  };
}

/** Streaming options do not change the request's meaning, so they are not part of the fingerprint. */
export function computeFingerprint(body: JsonObject, caller: Caller): string {
  const { stream: _, stream_options: __, ...fields } = body;
  return digestValue({ caller: caller.id, said: fields });
}

/** OpenAI's client libraries send this header with every request. */
const RETRY_HEADER = "x-stainless-retry-count";
