import type { Principal, Right } from "../../domain/actor.ts";
import type { TraceMode } from "../../domain/responses-settings.ts";
import { ApiError } from "../routing/api-error.ts";

/** The authenticated caller of a request. `agents` lists the agents it may use; undefined means all. */
export interface Caller extends Principal {
  readonly agents?: readonly string[];
  /** The trace mode set by the caller's key. Undefined: the server's setting. */
  readonly trace?: TraceMode;
}

/** A caller may use its own sessions, as long as it may use their agent. */
export function canUseSession(
  caller: Caller,
  session: { readonly principal: string; readonly agent: string },
): boolean {
  return session.principal === caller.id && canUseAgent(caller, session.agent);
}

export function canUseAgent({ agents }: Caller, agent: string): boolean {
  return agents === undefined || agents.includes(agent);
}

export function requireRight({ rights }: Principal, right: Right, action: string): void {
  if (rights.includes(right)) return;
  const hint = `Send a key that has the right "${right}"`;
  throw new ApiError(403, "access_denied", `${action} is not among the caller's rights`, { hint });
}
