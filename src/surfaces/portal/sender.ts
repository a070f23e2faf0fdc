import type { Principal } from "../../domain/actor.ts";
import type { ServedRequest } from "../../http/served.ts";
import type { Sender } from "../../session/sessions.ts";
import { headerOf } from "./header.ts";
import { invalid } from "./request-body.ts";

export function senderOf(request: ServedRequest, principal: Principal): Sender {
  const commandId = commandIdOf(request);
  return { principal, ...(commandId !== undefined && { commandId }) };
}

/**
 * The caller's name for a command. It stands beside those of other surfaces in one session, so it says where it is from.
 */
function commandIdOf(request: ServedRequest): string | undefined {
  const key = headerOf(request, "idempotency-key");
  if (key === undefined) return undefined;
  if (!/^[!-~]{1,200}$/.test(key)) {
    throw invalid("The Idempotency-Key is not 1 to 200 visible ASCII characters");
  }
  return `portal:${key}`;
}
