import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { createMessageArtifact } from "./message-artifact.ts";
import { formatTaskId } from "./task-id.ts";
import type { TaskFold } from "./task-state.ts";
import type { PlacedUpdate, Task, TaskReference, TaskUpdate } from "./task.ts";

/** The task in its current state. */
export function createTask(fold: TaskFold): Task {
  const { status, history, messages, artifacts, sequence } = fold;
  const messageArtifacts = [...messages].flatMap(
    ([messageId, draft]) => createMessageArtifact(messageId, draft) ?? [],
  );
  return {
    ...createReference(fold),
    status,
    artifacts: [...messageArtifacts, ...artifacts.values()],
    history: [...history],
    sequence,
  };
}

function createReference({ position }: TaskFold): TaskReference {
  return { taskId: formatTaskId(position), contextId: position.sessionId };
}

/** Emits the update that an event causes. */
export function emitUpdate(
  fold: TaskFold,
  update: TaskUpdate,
  emit: Emit<PlacedUpdate>,
  { seq, at }: Envelope,
): void {
  emit({ ...createReference(fold), sequence: seq, at, update });
}
