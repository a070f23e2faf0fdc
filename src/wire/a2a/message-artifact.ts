import type { MessageDraft } from "./task-state.ts";
import type { TaskArtifact, TaskPart } from "./task.ts";

/** The artifact of a message: one text part per block. Undefined for a message without text. */
export function createMessageArtifact(
  messageId: string,
  draft: MessageDraft,
): TaskArtifact | undefined {
  const parts = readParts(draft);
  return parts.length === 0 ? undefined : { artifactId: messageId, name: MESSAGE_NAME, parts };
}

export const MESSAGE_NAME = "response";

function readParts({ blocks, replacement }: MessageDraft): readonly TaskPart[] {
  if (replacement !== null) return replacement === "" ? [] : [{ type: "text", text: replacement }];
  return [...blocks]
    .sort(([left], [right]) => left - right)
    .filter(([, { content }]) => content.text !== "")
    .map(([, { content }]) => ({ type: "text", text: content.text }));
}
