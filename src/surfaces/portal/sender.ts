import type { Principal } from "../../domain/actor.ts";
import type { ServedRequest } from "../../http/server/http-types.ts";
import type { Sender } from "../../session/sessions.ts";
import { readIdempotencyKey } from "../../http/routing/idempotency-key.ts";

export function senderOf(request: ServedRequest, principal: Principal): Sender {
  const key = readIdempotencyKey(request);
  // Command ids of all surfaces share one session, so the prefix names the surface.
  return { principal, ...(key !== undefined && { commandId: `portal:${key}` }) };
}
