import type { Codec } from "../../domain/codec.ts";
import { applyEventRule } from "../../domain/event-rules.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { LogPosition } from "../../domain/events/log-position.ts";
import type { SessionLineage } from "../../domain/workers/session-lineage.ts";
import { TASK_RULES } from "./task-rules.ts";
import { createTaskFold, type TaskFold } from "./task-state.ts";
import { isTerminalState, type PlacedUpdate } from "./task.ts";

/**
 * Encodes the events of a session, from the prompt of a task on, as the stream of the task. The same events always give
 * the same updates, so a reader continues after the last update it received.
 */
export function createTaskEncoder(
  position: LogPosition,
  lineage: SessionLineage | null,
): Codec<TaskFold, Envelope, PlacedUpdate> {
  return {
    initial: () => createTaskFold(position, lineage),
    step(fold, envelope, emit) {
      if (isOver(fold) || envelope.seq < position.seq) return;
      fold.sequence = envelope.seq;
      if (envelope.cause?.startsWith(MESSAGE_COMMAND) === true) fold.causes.add(envelope.cause);
      applyEventRule(TASK_RULES, fold, envelope, emit);
    },
    finish() {},
    isOver,
  };
}

/** The prefix of command ids which A2A messages have. */
export const MESSAGE_COMMAND = "a2a/";

function isOver({ status }: TaskFold): boolean {
  return isTerminalState(status.state);
}
