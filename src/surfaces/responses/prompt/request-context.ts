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

/** A request that was read, with what does not depend on how it is written. */
export interface RequestContext<Wanted> {
  readonly request: Wanted;
  readonly caller: Caller;
  readonly retry: RetryIdentity;
  /** Its agent is told the whole conversation every time. */
  readonly isStateless: boolean;
  /** The header that names a session. */
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

/** How a request is known when it comes again: by its key, or by who says what, and that it says to be a retry. */
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

/** Whether it is to be streamed changes nothing of what is asked. */
export function computeFingerprint(body: JsonObject, caller: Caller): string {
  const { stream: _, stream_options: __, ...said } = body;
  return digestValue({ caller: caller.id, said });
}

/** Clients of OpenAI send it with every request. */
const RETRY_HEADER = "x-stainless-retry-count";
