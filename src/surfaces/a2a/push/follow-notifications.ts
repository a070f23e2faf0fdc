import type { Sessions } from "../../../session/sessions.ts";
import { encodeNotification } from "../../../wire/a2a/push/push-notification.ts";
import { createTaskEncoder } from "../../../wire/a2a/task-encoder.ts";
import type { PlacedUpdate } from "../../../wire/a2a/task.ts";
import { readBatches } from "../../log/read-log.ts";
import { createSnapshot } from "../follow-task.ts";
import type { StoredTask } from "../stored-task.ts";
import type { StoredPush } from "./push-store.ts";

export interface Notification {
  /** Position of the update in the log. */
  readonly sequence: number;
  readonly body: object;
}

/**
 * Yields the notifications after the last acknowledged update, until the task ends or the signal aborts. The same log
 * always gives the same notifications. Throws `not_found` if the session is deleted.
 */
export async function* followNotifications(
  sessions: Sessions,
  { record, position }: StoredTask,
  { snapshotSeq, acknowledgedSeq, version }: StoredPush,
  signal: AbortSignal,
): AsyncGenerator<Notification> {
  const encoder = createTaskEncoder(position, record.lineage);
  const fold = encoder.initial();
  let isSnapshotDue = acknowledgedSeq < snapshotSeq;
  for await (const envelopes of readBatches(record, position.seq, sessions, signal)) {
    for (const envelope of envelopes) {
      let updates: PlacedUpdate[] = [];
      encoder.step(fold, envelope, (update) => void updates.push(update));
      const isOver = encoder.isOver?.(fold) === true;
      // Retention may have dropped the event of the snapshot, so a later event stands in for the event.
      if (isSnapshotDue && (envelope.seq >= snapshotSeq || isOver)) {
        isSnapshotDue = false;
        updates = [createSnapshot(fold, envelope.at)];
      }
      for (const update of updates) {
        if (isSnapshotDue || update.sequence <= acknowledgedSeq) continue;
        const body = encodeNotification(fold, update, version);
        if (body !== undefined) yield { sequence: update.sequence, body };
      }
      if (isOver) return;
    }
  }
}
