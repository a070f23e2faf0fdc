import { diagnose } from "../converse/state.ts";
import { getCurrentMessage, isSameText, stepConverse, readMessageText } from "./message-tracker.ts";
import { findNewText, markDelivered, type Carrier } from "./delivered-text.ts";
import type { Fields, TrackedMessage, EmitEvent, StrandsState } from "./state.ts";

/** The delta in a merged event, without the state of the agent. */
interface MergedDelta {
  readonly block: "text" | "reasoning";
  readonly delta: Fields;
  /** Id of the loop cycle. Null if absent. */
  readonly cycle: string | null;
}

/**
 * Folds an event merged by Strands from a Converse event and the agent state, unless the Converse event itself was
 * received. Objects of apps with text in the same keys are accepted too. Returns false if the object is not such an
 * event.
 */
export function foldMergedEvent(state: StrandsState, fields: Fields, emit: EmitEvent): boolean {
  const mergedDelta = readMergedEvent(fields);
  if (mergedDelta === undefined) return false;
  if (getCurrentMessage(state)?.carrier === "event") return true;
  foldMergedDelta(state, mergedDelta, "data", emit);
  return true;
}

export function isMergedEvent(fields: Fields): boolean {
  return readMergedEvent(fields) !== undefined;
}

/** Folds a bare string: the complete text in some apps, a repetition or a status note in others. */
export function foldBareText(state: StrandsState, text: string, emit: EmitEvent): void {
  if (text === "") return;
  const currentMessage = getCurrentMessage(state);
  if (
    currentMessage?.carrier === "event" &&
    findNewText(currentMessage.deliveredText, "text", text) === ""
  )
    return;
  if (currentMessage?.carrier === "event" && currentMessage.isOpen) {
    // Mixed into the Converse events, the string would look like text of the model.
    emit({ type: "unknown", what: "event", name: "text", raw: text });
    const message = "A bare string inside a message of Converse events is not part of the message";
    return diagnose(state.converse, "text_disagrees", message, emit);
  }
  if (
    state.trackedMessage !== null &&
    !state.trackedMessage.isOpen &&
    isSameText(readMessageText(state.trackedMessage), text)
  )
    return;
  foldMergedDelta(state, { block: "text", delta: { text }, cycle: null }, "text", emit);
}

/** Ends a message delivered only by the `data` carrier, which has no end event on the wire. */
export function closeDataMessage(state: StrandsState, emit: EmitEvent): void {
  const message = getCurrentMessage(state);
  if (message === null || !message.isOpen || message.carrier !== "data") return;
  closeDataBlock(state, message, emit);
  stepConverse(state, "messageStop", {}, emit);
  message.isSettled = true;
}

export function closeDataBlock(
  state: StrandsState,
  message: TrackedMessage,
  emit: EmitEvent,
): void {
  if (message.dataBlock === null) return;
  message.dataBlock = null;
  stepConverse(state, "contentBlockStop", {}, emit);
}

function readMergedEvent(fields: Fields): MergedDelta | undefined {
  const { data, reasoningText, reasoning_signature, reasoningRedactedContent, citation } = fields;
  if (fields["type"] !== undefined) return undefined;
  const { event_loop_cycle_id: id } = fields;
  const cycle = typeof id === "string" ? id : null;
  if (typeof data === "string") return { block: "text", delta: { text: data }, cycle };
  if (citation !== undefined) return { block: "text", delta: { citation }, cycle };
  const reasoning = {
    ...(typeof reasoningText === "string" && { text: reasoningText }),
    ...(typeof reasoning_signature === "string" && { signature: reasoning_signature }),
    ...(typeof reasoningRedactedContent === "string" && {
      redactedContent: reasoningRedactedContent,
    }),
  };
  if (Object.keys(reasoning).length === 0) return undefined;
  return { block: "reasoning", delta: { reasoningContent: reasoning }, cycle };
}

function foldMergedDelta(
  state: StrandsState,
  mergedDelta: MergedDelta,
  carrier: Carrier,
  emit: EmitEvent,
): void {
  const { block, cycle } = mergedDelta;
  closePreviousCycle(state, cycle, emit);
  const delta = findNewDelta(getCurrentMessage(state), mergedDelta, carrier);
  if (delta === null) return;
  if (getCurrentMessage(state)?.isOpen !== true)
    stepConverse(state, "messageStart", ASSISTANT, emit);
  const message = getCurrentMessage(state);
  if (message === null) return;
  message.carrier = "data";
  message.hasMergedEvents ||= carrier === "data";
  message.cycle = cycle ?? message.cycle;
  if (message.dataBlock !== block) closeDataBlock(state, message, emit);
  message.dataBlock = block;
  stepConverse(state, "contentBlockDelta", { delta }, emit);
  markDelivered(message.deliveredText, carrier);
}

/** Each cycle of the loop is a separate message. */
function closePreviousCycle(state: StrandsState, cycle: string | null, emit: EmitEvent): void {
  const last = getCurrentMessage(state)?.cycle ?? null;
  if (last !== null && cycle !== null && last !== cycle) closeDataMessage(state, emit);
}

/** Returns the part of a delta not yet delivered by the other carriers of an open message. Null if nothing is new. */
function findNewDelta(
  message: TrackedMessage | null,
  { delta }: MergedDelta,
  carrier: Carrier,
): Fields | null {
  const { text } = delta;
  if (message?.isOpen !== true || typeof text !== "string" || text === "") return delta;
  const newText = findNewText(message.deliveredText, carrier, text);
  return newText === "" ? null : { text: newText };
}

const ASSISTANT = { role: "assistant" } as const;
