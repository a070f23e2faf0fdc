import type { ProtocolVersion } from "../dialect.ts";
import { A2A_V03 } from "../encode-v03.ts";
import { A2A_V1 } from "../encode-v1.ts";
import { createMessageArtifact } from "../message-artifact.ts";
import { createTask } from "../task-snapshot.ts";
import type { TaskFold } from "../task-state.ts";
import type { PlacedUpdate, TaskArtifact } from "../task.ts";

/**
 * Encodes an update as the body of a push notification: in 1.0 an entry of the task's stream, in 0.3 the task after the
 * update. Undefined for a piece of an artifact: the artifact is sent whole when it is finished, because a request per
 * piece would arrive long after the task has ended. `fold` is the task after the update.
 */
export function encodeNotification(
  fold: TaskFold,
  placed: PlacedUpdate,
  version: ProtocolVersion,
): object | undefined {
  const { update } = placed;
  if (update.type === "artifact" && !update.isLast) return undefined;
  if (version === "0.3") return A2A_V03.encodeTask(createTask(fold));
  if (update.type !== "artifact") return A2A_V1.encodeUpdate(placed);
  const artifact = findArtifact(fold, update.artifact);
  return A2A_V1.encodeUpdate({ ...placed, update: { ...update, artifact, isAppended: false } });
}

/** The whole artifact in place of its last piece. */
function findArtifact({ messages }: TaskFold, last: TaskArtifact): TaskArtifact {
  const draft = messages.get(last.artifactId);
  return (draft && createMessageArtifact(last.artifactId, draft)) ?? last;
}

/** The media type of a notification. */
export const PUSH_MEDIA_TYPES: { readonly [Version in ProtocolVersion]: string } = {
  "1.0": "application/a2a+json",
  "0.3": "application/json",
};
