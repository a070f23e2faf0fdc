import type { CommandReply } from "../domain/session-command.ts";
import { isSessionMode, SESSION_MODES, type SessionMode } from "../domain/session-mode.ts";
import { withdrawChangedRequests } from "./configure-agent.ts";
import { refuse } from "./refuse-command.ts";
import type { Decision } from "./decision.ts";

/** Puts the session into a mode. What people were asked in another one, and would be asked otherwise now, is judged anew. */
export function setMode(decision: Decision, mode: SessionMode): CommandReply {
  if (!isSessionMode(mode)) {
    const message = `There is no mode "${String(mode)}"; there is: ${SESSION_MODES.join(", ")}`;
    return refuse("invalid_option", message, { path: "mode" });
  }
  if (mode === decision.state.mode) return { status: "accepted" };
  decision.emit({ type: "session.mode_changed", mode });
  withdrawChangedRequests(decision);
  return { status: "accepted" };
}
