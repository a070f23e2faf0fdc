import { appendText } from "../../text/text-builder.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { createConverseFold } from "../converse/fold.ts";
import { createDeliveredText } from "./delivered-text.ts";
import type { TrackedBlock, TrackedMessage, EmitEvent, StrandsState } from "./state.ts";

/** Passes an event to the Converse fold and tracks the emitted events. */
export function stepConverse(
  state: StrandsState,
  name: string,
  payload: unknown,
  emit: EmitEvent,
): void {
  stepConverseMessage(state, { type: "event", name, payload }, emit);
}

export function stepConverseMessage(
  state: StrandsState,
  message: StreamMessage,
  emit: EmitEvent,
): void {
  converse.step(state.converse, message, (event) => {
    trackEvent(state, event);
    emit(event);
  });
}

/** Limits are part of the state, so one codec serves all streams. */
const converse = createConverseFold();

/** Returns the message to which new content of any carrier belongs. Null if the next content starts a new message. */
export function getCurrentMessage({ trackedMessage }: StrandsState): TrackedMessage | null {
  return trackedMessage === null || trackedMessage.isSettled ? null : trackedMessage;
}

export function readMessageText(message: TrackedMessage): string {
  return message.replacementText ?? joinTextBlocks(message);
}

/** Returns the text of the blocks, ignoring a replacement. */
export function joinTextBlocks(message: TrackedMessage): string {
  let text = "";
  for (const block of message.blocks.values()) if (block.kind === "text") text += block.text;
  return text;
}

/** Returns whether the tracked text ends with `text`. A carrier of the last cycle only repeats this end. */
export function endsWithText(trackedText: string, text: string): boolean {
  return trackedText.trimEnd().endsWith(text.trimEnd());
}

/**
 * Returns whether two carriers have the same text. Strands appends a line break to every block of a result, so trailing
 * whitespace is ignored.
 */
export function isSameText(trackedText: string, text: string): boolean {
  // Lengths are compared first, so long texts are compared only if they may be equal.
  const hasSimilarLength = Math.abs(trackedText.length - text.length) <= MAX_TRAILING_SPACE;
  return hasSimilarLength && trackedText.trimEnd() === text.trimEnd();
}

const MAX_TRAILING_SPACE = 64;

export function hasBlock(message: TrackedMessage, kind: TrackedBlock["kind"]): boolean {
  for (const block of message.blocks.values()) if (block.kind === kind) return true;
  return false;
}

function trackEvent(state: StrandsState, event: ProviderEvent): void {
  if ("message" in event) state.suspectedError = null;
  switch (event.type) {
    case "message.start":
      return trackMessageStart(state, event.message, event.role === "assistant");
    case "message.end":
      if (state.trackedMessage?.number !== event.message) return;
      state.trackedMessage.isOpen = false;
      state.trackedMessage.reason = event.reason;
      return;
    case "text.delta":
      return trackText(state, event, "text");
    case "reasoning.delta":
      return trackText(state, event, "reasoning");
    case "tool.start":
      if (state.trackedMessage === null) return;
      state.trackedMessage.toolCallCount += 1;
      state.trackedMessage.blocks.set(event.block, {
        kind: "call",
        text: event.toolCallId,
        pieceCount: 0,
      });
      return;
    case "reasoning.end":
      // Redacted reasoning has no deltas.
      if (event.redacted !== undefined) trackText(state, { ...event, text: "" }, "reasoning");
      return;
    case "unknown":
      if (state.trackedMessage !== null && CITATION_DELTAS.has(event.name))
        state.trackedMessage.hasCitations = true;
      return;
    default:
  }
}

/** Names of the citation delta in Strands for Python and TypeScript. */
const CITATION_DELTAS: ReadonlySet<string> = new Set(["citation", "citationsDelta"]);

function trackMessageStart(state: StrandsState, number: number, isAssistant: boolean): void {
  if (state.trackedMessage !== null) state.trackedMessage.isSettled = true;
  if (!isAssistant) return;
  state.loopEnd = null;
  state.trackedMessage = {
    number,
    carrier: null,
    isOpen: true,
    isSettled: false,
    isConfirmed: false,
    id: null,
    hasMergedEvents: false,
    reason: null,
    blocks: new Map(),
    toolCallCount: 0,
    replacementText: null,
    withdrawnText: null,
    hasUsage: false,
    hasCitations: false,
    dataBlock: null,
    cycle: null,
    deliveredText: createDeliveredText(),
  };
}

function trackText(
  { trackedMessage }: StrandsState,
  event: { readonly message: number; readonly block: number; readonly text: string },
  kind: "text" | "reasoning",
): void {
  if (trackedMessage?.number !== event.message) return;
  const block = trackedMessage.blocks.get(event.block);
  if (block === undefined)
    trackedMessage.blocks.set(event.block, { kind, text: event.text, pieceCount: 1 });
  else appendText(block, event.text);
  if (kind !== "text") return;
  if (trackedMessage.replacementText !== null) trackedMessage.replacementText += event.text;
  trackedMessage.deliveredText.pieces.push(event.text);
}
