import type { CommandReply, SessionCommand } from "../../domain/session-command.ts";
import { isLessStrict, isSessionMode, type SessionMode } from "../../domain/session-mode.ts";
import { refuse } from "../refuse-command.ts";
import type { SessionState } from "../session-state.ts";
import type { Sender, Sessions } from "../sessions.ts";
import { listActiveWorkers } from "../workers/workers-state.ts";
import { sendCommand, type CommandContext } from "./send-command.ts";
import type { WithDriver } from "./session-opening.ts";

type SetMode = Extract<SessionCommand, { readonly type: "set-mode" }>;

interface ModeContext extends CommandContext {
  readonly withDriver: WithDriver;
  /** Sends a command to any session. */
  readonly sendTo: Sessions["command"];
}

/**
 * Changes the mode of a session. A worker's session never has a wider mode than its parent: a wider mode is refused, and
 * a narrower mode reaches the workers before the reply. Workers without a session yet start in the narrower mode.
 */
export async function setSessionMode(
  command: SetMode,
  sender: Sender,
  { withDriver, sendTo, ...context }: ModeContext,
): Promise<CommandReply> {
  const { mode } = command;
  const { driver } = context;
  const parentId = driver.state.lineage?.parentSessionId;
  if (parentId !== undefined && isSessionMode(mode)) {
    // Nothing is awaited between this check and the send: a later change of the parent is queued behind this one.
    const parentMode = await withDriver(parentId, ({ state }) => state.mode);
    if (isLessStrict(mode, parentMode)) {
      const message = `The mode "${mode}" is wider than the mode "${parentMode}" of the parent session. Fix: change the mode of ${parentId} first`;
      return refuse("conflict", message, { path: "mode" });
    }
  }
  const reply = await sendCommand(command, sender, context);
  if (reply.status === "accepted") await restrictWorkers(mode, driver.state, sendTo);
  return reply;
}

async function restrictWorkers(
  mode: SessionMode,
  { workers, principal: id }: SessionState,
  sendTo: Sessions["command"],
): Promise<void> {
  const principal = { id, rights: ["prompt"] } as const;
  for (const { sessionId } of listActiveWorkers(workers)) {
    // Refused if the mode is wider. Fails if the session does not exist yet.
    await sendTo(sessionId, { type: "set-mode", mode }, { principal }).catch(() => undefined);
  }
}
