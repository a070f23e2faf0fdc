import { readBatches } from "../log/read-log.ts";
import { isSessionDeleted } from "../log/session-deleted.ts";
import type { Sessions } from "../../session/sessions.ts";
import { createTaskEncoder } from "../../wire/a2a/task-encoder.ts";
import { createTask } from "../../wire/a2a/task-snapshot.ts";
import type { PlacedUpdate } from "../../wire/a2a/task.ts";
import type { StoredTask } from "./stored-task.ts";

export interface FollowOptions {
  /**
   * Position of the last update that the reader received; 0: none. Undefined: the task in its current state comes
   * first.
   */
  readonly after: number | undefined;
  /** Aborts when the reader is gone. */
  readonly signal: AbortSignal;
}

/** Yields the updates of a task in batches, until the task ends or the reader leaves. */
export async function* followTask(
  sessions: Sessions,
  { record, position }: StoredTask,
  { after, signal }: FollowOptions,
): AsyncGenerator<readonly PlacedUpdate[]> {
  const encoder = createTaskEncoder(position, record.lineage);
  const fold = encoder.initial();
  // A snapshot replaces the updates up to the log's current end.
  let snapshotSeq = after === undefined ? record.seq : undefined;
  const isSent = (sequence: number): boolean => sequence <= (after ?? record.seq);
  const leaving = new AbortController();
  const ending = AbortSignal.any([signal, leaving.signal]);
  try {
    for await (const envelopes of readBatches(record, position.seq, sessions, ending)) {
      const updates: PlacedUpdate[] = [];
      for (const envelope of envelopes) {
        // The log may have dropped the event at the position of the snapshot.
        if (snapshotSeq !== undefined && envelope.seq > snapshotSeq) {
          snapshotSeq = undefined;
          updates.push(createSnapshot(fold, envelope.at));
        }
        encoder.step(fold, envelope, (update) => {
          if (!isSent(update.sequence)) updates.push(update);
        });
        const isOver = encoder.isOver?.(fold) === true;
        if (snapshotSeq === undefined || (envelope.seq < snapshotSeq && !isOver)) continue;
        snapshotSeq = undefined;
        updates.push(createSnapshot(fold, envelope.at));
      }
      if (updates.length > 0) yield updates;
      if (encoder.isOver?.(fold) === true) return;
    }
  } catch (error) {
    // The stream of a deleted session ends with the updates so far.
    if (!isSessionDeleted(error)) throw error;
  } finally {
    leaving.abort();
  }
}

export function createSnapshot(fold: Parameters<typeof createTask>[0], at: number): PlacedUpdate {
  const task = createTask(fold);
  const { taskId, contextId, sequence } = task;
  return { taskId, contextId, sequence, at, update: { type: "task", task } };
}
