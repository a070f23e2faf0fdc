import { due } from "../due.ts";
import type { SessionState } from "../session-state.ts";

/** Whether a session may leave memory: nothing runs, nothing waits for a time or an answer, and no client is attached. */
export function isQuiet(state: SessionState): boolean {
  const { turn, tools, approvals, clients } = state;
  const isResting =
    turn.current === null && turn.queue.length === 0 && tools.processes.length === 0;
  if (!isResting || approvals.pending.length > 0 || clients.attached.length > 0) return false;
  const { effects, wakeAt } = due(state);
  return effects.size === 0 && wakeAt === null;
}
