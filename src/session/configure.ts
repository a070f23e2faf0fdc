import type { CommandReply } from "../domain/session-command.ts";
import { isSessionMode, SESSION_MODES, type SessionMode } from "../domain/session-mode.ts";
import { withdrawQuestions } from "./bind-agent.ts";
import { refused } from "./refused.ts";
import type { Work } from "./work.ts";

/** Puts the session into a mode. What people were asked in another one, and would be asked otherwise now, is judged anew. */
export function configure(work: Work, mode: SessionMode): CommandReply {
  if (!isSessionMode(mode)) {
    const message = `There is no mode "${String(mode)}"; there is: ${SESSION_MODES.join(", ")}`;
    return refused("invalid_option", message, { path: "mode" });
  }
  if (mode === work.state.mode) return { status: "accepted" };
  work.emit({ type: "session.configured", mode });
  withdrawQuestions(work);
  return { status: "accepted" };
}
