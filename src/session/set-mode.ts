import type { CommandReply } from "../domain/session-command.ts";
import { isSessionMode, SESSION_MODES, type SessionMode } from "../domain/session-mode.ts";
import { withdrawChangedRequests } from "./configure-agent.ts";
import { refuse } from "./refuse-command.ts";
import type { Decision } from "./decision.ts";
import { formatUnknownName } from "../text/unknown-name.ts";

/**
 * Changes the session mode. Approval requests which the new mode would decide differently are withdrawn, and their tool
 * calls evaluated again.
 */
export function setMode(decision: Decision, mode: SessionMode): CommandReply {
  if (!isSessionMode(mode)) {
    const message = formatUnknownName("Mode", String(mode), { names: SESSION_MODES });
    return refuse("invalid_option", message, { path: "mode" });
  }
  if (mode === decision.state.mode) return { status: "accepted" };
  decision.emit({ type: "session.mode_changed", mode });
  withdrawChangedRequests(decision);
  return { status: "accepted" };
}
