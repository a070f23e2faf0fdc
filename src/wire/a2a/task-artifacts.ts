import type { Emit } from "../../domain/codec.ts";
import type { ArtifactEmitted, HandoffEmitted } from "../../domain/events/artifact-events.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type {
  MessageFinished,
  MessageReplaced,
  TextDelta,
  TextFinished,
} from "../../domain/events/turn-events.ts";
import { appendText } from "../../text/text-builder.ts";
import { createMessageArtifact, MESSAGE_NAME } from "./message-artifact.ts";
import { emitUpdate } from "./task-snapshot.ts";
import { openBlock, type MessageDraft, type TaskFold } from "./task-state.ts";
import type { PlacedUpdate, TaskArtifact } from "./task.ts";

/** Sends a piece of a message. The first piece opens the artifact of the message. */
export function appendDelta(
  fold: TaskFold,
  { messageId, block, text }: TextDelta,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const draft = openMessage(fold, messageId);
  const isAppended = createMessageArtifact(messageId, draft) !== undefined;
  appendText(openBlock(draft, block).content, text);
  if (text === "") return;
  const artifact: TaskArtifact = {
    artifactId: messageId,
    name: MESSAGE_NAME,
    parts: [{ type: "text", text }],
  };
  emitUpdate(fold, { type: "artifact", artifact, isAppended, isLast: false }, emit, envelope);
}

/** Sends the whole message again if the log no longer has all pieces: retention drops the deltas of finished texts. */
export function finishText(
  fold: TaskFold,
  { messageId, block, text }: TextFinished,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const draft = openMessage(fold, messageId);
  const { content } = openBlock(draft, block);
  if (content.text === text) return;
  content.text = text;
  sendWhole(fold, { messageId, draft, isLast: false }, emit, envelope);
}

/** Closes the artifact of the message with an empty piece, because the last piece was sent before the message ended. */
export function finishMessage(
  fold: TaskFold,
  { messageId }: MessageFinished,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const draft = fold.messages.get(messageId);
  if (draft === undefined || createMessageArtifact(messageId, draft) === undefined) return;
  const artifact: TaskArtifact = {
    artifactId: messageId,
    name: MESSAGE_NAME,
    parts: [{ type: "text", text: "" }],
  };
  emitUpdate(fold, { type: "artifact", artifact, isAppended: true, isLast: true }, emit, envelope);
}

export function replaceMessage(
  fold: TaskFold,
  { messageId, text }: MessageReplaced,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const draft = openMessage(fold, messageId);
  draft.replacement = text;
  sendWhole(fold, { messageId, draft, isLast: true }, emit, envelope);
}

interface WholeMessage {
  readonly messageId: string;
  readonly draft: MessageDraft;
  readonly isLast: boolean;
}

function sendWhole(
  fold: TaskFold,
  { messageId, draft, isLast }: WholeMessage,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const artifact = createMessageArtifact(messageId, draft) ?? {
    artifactId: messageId,
    name: MESSAGE_NAME,
    parts: [{ type: "text", text: "" }],
  };
  emitUpdate(fold, { type: "artifact", artifact, isAppended: false, isLast }, emit, envelope);
}

function openMessage({ messages }: TaskFold, messageId: string): MessageDraft {
  const known = messages.get(messageId);
  if (known !== undefined) return known;
  const opened: MessageDraft = { blocks: new Map(), replacement: null };
  messages.set(messageId, opened);
  return opened;
}

/** Sends an artifact of the agent: its spec as data, and its fallback as text. */
export function addArtifact(
  fold: TaskFold,
  event: ArtifactEmitted,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const { artifactId, kind, title, mimeType, spec, fallback, sizeBytes, provenance, sha256 } =
    event;
  const artifact: TaskArtifact = {
    artifactId,
    name: title ?? kind,
    parts: [
      { type: "data", data: spec, mediaType: mimeType },
      { type: "text", text: fallback },
    ],
    // The agent writes its metadata, and cannot replace the facts of the store.
    metadata: { ...event.metadata, kind, sizeBytes, provenance, sha256 },
  };
  sendArtifact(fold, artifact, emit, envelope);
}

export function addHandoff(
  fold: TaskFold,
  { handoffId, artifactId, handoff }: HandoffEmitted,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const artifact: TaskArtifact = {
    artifactId,
    name: "handoff",
    parts: [{ type: "data", data: handoff, mediaType: "application/json" }],
    metadata: { kind: "handoff", handoffId },
  };
  sendArtifact(fold, artifact, emit, envelope);
}

function sendArtifact(
  fold: TaskFold,
  artifact: TaskArtifact,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  fold.artifacts.set(artifact.artifactId, artifact);
  emitUpdate(fold, { type: "artifact", artifact, isAppended: false, isLast: true }, emit, envelope);
}
