import { findOwnedSession, type SessionRecord } from "../log/owned-session.ts";
import { readEnvelope, readEnvelopes } from "../log/read-log.ts";
import type { LogPosition } from "../../domain/events/log-position.ts";
import type { Caller } from "../../http/access/caller.ts";
import type { Sessions } from "../../session/sessions.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";
import { A2aError } from "../../wire/a2a/a2a-error.ts";
import { createTaskEncoder } from "../../wire/a2a/task-encoder.ts";
import { parseTaskId } from "../../wire/a2a/task-id.ts";
import { createTask } from "../../wire/a2a/task-snapshot.ts";
import type { TaskFold } from "../../wire/a2a/task-state.ts";
import type { Task } from "../../wire/a2a/task.ts";

/** A task and the session with its events. */
export interface StoredTask {
  readonly record: SessionRecord;
  readonly position: LogPosition;
  /** The message that created the task was sent before. Default: false. */
  readonly isRepeated?: boolean;
}

/** Finds a task by id. Throws `TASK_NOT_FOUND` also for the task of another caller. */
export async function findTask(
  sessions: Sessions,
  id: string,
  caller: Caller,
): Promise<StoredTask> {
  const position = parseTaskId(id);
  const record =
    position === null ? undefined : await findOwnedSession(sessions, position.sessionId, caller);
  if (position === null || record === undefined || position.seq > record.seq)
    throw createUnknownTaskError(id);
  const envelope = await readEnvelope(record, position.seq, sessions);
  if (envelope?.event.type !== "prompt.accepted") throw createUnknownTaskError(id);
  const { hiddenPromptIds } = await sessions.status(record.sessionId);
  if (hiddenPromptIds.includes(envelope.event.promptId)) throw createUnknownTaskError(id);
  return { record, position };
}

function createUnknownTaskError(id: string): A2aError {
  return new A2aError("TASK_NOT_FOUND", formatUnknownName("Task", id));
}

/** Folds a task up to the current end of its session's log. */
export async function foldTask(
  sessions: Sessions,
  { record, position }: StoredTask,
): Promise<TaskFold> {
  const encoder = createTaskEncoder(position, record.lineage);
  const fold = encoder.initial();
  for await (const envelope of readEnvelopes(record, position.seq, sessions)) {
    encoder.step(fold, envelope, ignoreUpdate);
    if (encoder.isOver?.(fold) === true) break;
  }
  return fold;
}

function ignoreUpdate(): void {}

export async function readTask(sessions: Sessions, stored: StoredTask): Promise<Task> {
  return createTask(await foldTask(sessions, stored));
}
