import type { JsonObject } from "../../domain/json.ts";
import type { Caller } from "../../http/caller.ts";
import type { ServedRequest } from "../../http/served.ts";
import type { Retry } from "./ask.ts";
import { sessionHeaderOf } from "./request-headers.ts";
import { retryOf } from "./retry-of.ts";
import { isStateless } from "./stateless-agents.ts";
import type { Surface } from "./surface.ts";

/** A request that was read, with what does not depend on how it is written. */
export interface Wish<Wanted> {
  readonly request: Wanted;
  readonly caller: Caller;
  readonly retry: Retry;
  /** Its agent is told the whole conversation every time. */
  readonly isStateless: boolean;
  /** The header that names a session. */
  readonly header?: { readonly name: string; readonly value: string };
}

interface Told<Wanted> {
  readonly body: JsonObject;
  readonly wanted: Wanted;
  readonly caller: Caller;
}

export function wishOf<Wanted extends { readonly model?: string | null }>(
  request: ServedRequest,
  { body, wanted, caller }: Told<Wanted>,
  surface: Pick<Surface, "sessions" | "settings">,
): Wish<Wanted> {
  const header = sessionHeaderOf(request);
  return {
    request: wanted,
    caller,
    retry: retryOf(request, body, caller),
    isStateless: isStateless(surface, wanted.model ?? null, caller),
    ...(header !== undefined && { header }),
  };
}
