import type { JsonObject } from "../../../data/json.ts";
import type { Caller } from "../../../http/access/caller.ts";
import type { ServedRequest } from "../../../http/server/http-types.ts";
import type { RetryIdentity } from "./prompt-request.ts";
import { readSessionHeader } from "../routes/request-headers.ts";
import { readRetryIdentity } from "./retry-identity.ts";
import { isStatelessAgent } from "./stateless-agents.ts";
import type { SurfaceContext } from "../surface-context.ts";

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
    ...(header !== undefined && { header }),
  };
}
