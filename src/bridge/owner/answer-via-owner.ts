import type { JsonValue } from "../../data/json.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import { OwnerGoneError } from "../../session/remote/owner-connection.ts";
import { localPrincipal } from "../local-principal.ts";
import { lockOrJoin } from "./lock-or-join.ts";

export interface ApprovalAnswer {
  readonly sessionId: string;
  readonly approvalId: string;
  readonly decision: ApprovalDecision;
  /** The answer to a question of the agent. */
  readonly answer?: JsonValue;
}

/**
 * Sends a decision to the process that runs the session. Undefined if no process does, because the decision would have
 * no effect.
 */
export async function answerViaOwner(
  { sessionId, ...decided }: ApprovalAnswer,
  options: Pick<BridgeOptions, "directory" | "version" | "clock" | "onWaiting">,
): Promise<CommandReply | undefined> {
  const { signal } = new AbortController();
  for (;;) {
    const lockOrOwner = await lockOrJoin({ ...options, signal });
    if (lockOrOwner.lock !== undefined) {
      lockOrOwner.lock.release();
      return undefined;
    }
    const { sessions } = lockOrOwner;
    try {
      const command = { type: "decide-approval", ...decided } as const;
      return await sessions.command(sessionId, command, { principal: localPrincipal });
    } catch (error) {
      // The owner ended; the loop finds the next owner.
      if (!(error instanceof OwnerGoneError)) throw error;
    } finally {
      sessions.close();
    }
  }
}
