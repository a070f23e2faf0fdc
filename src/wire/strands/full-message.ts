import { isObject } from "../../data/json.ts";
import { diagnose } from "../converse/state.ts";
import {
  getCurrentMessage,
  endsWithText,
  hasBlock,
  stepConverse,
  readMessageText,
} from "./message-tracker.ts";
import { closeDataBlock, closeDataMessage } from "./merged-event.ts";
import { readMessage, type FullMessage, type MessageBlock } from "./message-blocks.ts";
import { foldBlock, foldResults } from "./fold-blocks.ts";
import { rememberMessage, type Fields, type TrackedMessage, type EmitEvent } from "./state.ts";
import type { StrandsState } from "./state.ts";

/**
 * Folds a message received in one piece. Usually Converse events delivered the content before: then only missing
 * content is emitted, and the full message wins where the two differ.
 */
export function foldFullMessage(
  state: StrandsState,
  fields: Fields,
  stopReason: string | undefined,
  emit: EmitEvent,
): void {
  const message = readMessage(fields);
  if (message.id !== undefined && state.recentMessageIds.includes(message.id)) return;
  if (message.id !== undefined) rememberMessage(state, message.id);
  if (message.role === "user") return foldUserMessage(state, message, emit);
  const currentMessage = getCurrentMessage(state);
  if (isWithdrawn(state, message)) {
    if (currentMessage !== null) confirmMessage(state, message, stopReason, emit);
    return;
  }
  if (isRepeated(state, message)) return;
  if (currentMessage === null || (currentMessage.isOpen && currentMessage.blocks.size === 0))
    foldWholeMessage(state, message, emit);
  else reconcileMessage(state, currentMessage, message, emit);
  confirmMessage(state, message, stopReason, emit);
}

/**
 * Drops results of already answered tool calls. A user message without a remaining result is the prompt and is ignored.
 */
function foldUserMessage(state: StrandsState, message: FullMessage, emit: EmitEvent): void {
  const blocks = message.blocks.filter(
    (block) =>
      block.kind !== "result" ||
      state.converse.toolCalls.get(block.toolCallId)?.isAnswered !== true,
  );
  if (!blocks.some(({ kind }) => kind === "result")) return;
  closeDataMessage(state, emit);
  foldResults(state, blocks, emit);
}

function isWithdrawn({ trackedMessage }: StrandsState, { text }: FullMessage): boolean {
  return text !== "" && trackedMessage?.withdrawnText === text;
}

/** Strands TS sends each message several times, and its old versions sent some or all messages without an id. */
function isRepeated(state: StrandsState, message: FullMessage): boolean {
  const { trackedMessage, converse } = state;
  const currentMessage = getCurrentMessage(state);
  const calls = message.blocks.filter((block) => block.kind === "call");
  if (calls.length > 0) {
    const currentToolCallIds = listToolCallIds(currentMessage);
    return calls.every(
      ({ toolCallId }) => converse.toolCalls.has(toolCallId) && !currentToolCallIds.has(toolCallId),
    );
  }
  if (currentMessage !== null || trackedMessage === null) return false;
  if (message.id !== undefined && trackedMessage.id !== null) return false;
  const isLast = trackedMessage.number === converse.message?.number;
  return isLast && trackedMessage.isConfirmed && readMessageText(trackedMessage) === message.text;
}

function listToolCallIds(message: TrackedMessage | null): ReadonlySet<string> {
  const toolCallIds = new Set<string>();
  if (message === null) return toolCallIds;
  for (const block of message.blocks.values())
    if (block.kind === "call") toolCallIds.add(block.text);
  return toolCallIds;
}

function foldWholeMessage(state: StrandsState, message: FullMessage, emit: EmitEvent): void {
  if (getCurrentMessage(state) === null)
    stepConverse(state, "messageStart", { role: "assistant" }, emit);
  if (state.trackedMessage !== null) state.trackedMessage.carrier = "message";
  for (const block of message.blocks) foldBlock(state, block, emit);
}

function reconcileMessage(
  state: StrandsState,
  trackedMessage: TrackedMessage,
  message: FullMessage,
  emit: EmitEvent,
): void {
  const missingBlocks = findMissingBlocks(trackedMessage, message);
  reconcileText(state, trackedMessage, message.text, emit);
  closeDataBlock(state, trackedMessage, emit);
  for (const block of message.blocks) {
    const isNews =
      block.kind === "unknown" || (block.kind === "citation" && !trackedMessage.hasCitations);
    if (isNews) foldBlock(state, block, emit);
  }
  if (missingBlocks.length === 0) return;
  if (trackedMessage.isOpen) for (const block of missingBlocks) foldBlock(state, block, emit);
  else foldMissingBlocks(state, trackedMessage, missingBlocks, emit);
}

/** Emits blocks found only in the full message after the message ended, as a new message. */
function foldMissingBlocks(
  state: StrandsState,
  trackedMessage: TrackedMessage,
  blocks: readonly MessageBlock[],
  emit: EmitEvent,
): void {
  const note = `${blocks.length} block(s) were in the full message only; they are emitted as a new message`;
  diagnose(state.converse, "text_disagrees", note, emit);
  stepConverse(state, "messageStart", { role: "assistant" }, emit);
  for (const block of blocks) foldBlock(state, block, emit);
  stepConverse(state, "messageStop", { stopReason: trackedMessage.reason ?? undefined }, emit);
  if (state.trackedMessage !== null) state.trackedMessage.hasUsage = trackedMessage.hasUsage;
}

/**
 * Compares tool calls by id. Reasoning is missing only if none was received, because its deltas may be withheld. Text
 * is compared separately, as a whole.
 */
function findMissingBlocks(trackedMessage: TrackedMessage, message: FullMessage): MessageBlock[] {
  const toolCallIds = listToolCallIds(trackedMessage);
  const hasReasoning = hasBlock(trackedMessage, "reasoning");
  return message.blocks.filter((block) => {
    if (block.kind === "call") return !toolCallIds.has(block.toolCallId);
    return block.kind === "reasoning" && !hasReasoning;
  });
}

function reconcileText(
  state: StrandsState,
  trackedMessage: TrackedMessage,
  text: string,
  emit: EmitEvent,
): void {
  const trackedText = readMessageText(trackedMessage);
  if (
    trackedText === text ||
    (trackedMessage.carrier === "data" && endsWithText(trackedText, text))
  )
    return;
  const isContinuation = text.startsWith(trackedText);
  if (isContinuation && trackedMessage.isOpen) {
    if (trackedMessage.dataBlock !== "text") closeDataBlock(state, trackedMessage, emit);
    stepConverse(
      state,
      "contentBlockDelta",
      { delta: { text: text.slice(trackedText.length) } },
      emit,
    );
    if (trackedMessage.dataBlock === null) stepConverse(state, "contentBlockStop", {}, emit);
    return;
  }
  if (!isContinuation && trackedMessage.replacementText === null) {
    const note = "The full message differs from the text of its events; the full message is used";
    diagnose(state.converse, "text_disagrees", note, emit);
  }
  trackedMessage.replacementText = text;
  emit({ type: "message.replaced", message: trackedMessage.number, text });
}

/** Closes the message if no Converse event did, and counts its tokens if they were not counted before. */
function confirmMessage(
  state: StrandsState,
  message: FullMessage,
  stopReason: string | undefined,
  emit: EmitEvent,
): void {
  const { trackedMessage } = state;
  if (trackedMessage === null) return;
  if (trackedMessage.isOpen) {
    closeDataBlock(state, trackedMessage, emit);
    const forcedReason = hasBlock(trackedMessage, "call") ? "tool_use" : undefined;
    stepConverse(state, "messageStop", { stopReason: stopReason ?? forcedReason }, emit);
  }
  if (!trackedMessage.hasUsage && isObject(message.metadata)) {
    const { usage, metrics } = message.metadata;
    if (isObject(usage)) stepConverse(state, "metadata", { usage, metrics }, emit);
  }
  trackedMessage.hasUsage = true;
  trackedMessage.isConfirmed = true;
  trackedMessage.id = message.id ?? null;
  state.hasConfirmedMessages = true;
  state.hasConfirmedStrings ||=
    trackedMessage.carrier === "data" && !trackedMessage.hasMergedEvents;
  trackedMessage.isSettled = true;
  state.missingContent = null;
  state.suspectedError = null;
}
