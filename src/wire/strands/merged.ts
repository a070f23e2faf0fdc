import { diagnose } from "../converse/state.ts";
import { currentMessage, isSameText, tell, textOf } from "./heard.ts";
import { newPart, saidAll, type Carrier } from "./repeated-text.ts";
import type { Fields, HeardMessage, Out, StrandsState } from "./state.ts";

/** The part of a delta that a merged event carries beside the state of the agent. */
interface MergedDelta {
  readonly block: "text" | "reasoning";
  readonly delta: Fields;
  /** The cycle of the loop that it names. */
  readonly cycle: string | null;
}

/**
 * Folds the event that Strands merges from a Converse event and its state, where that event was not passed on; false when it is no
 * such event. Apps that send text in objects of their own making are understood too.
 */
export function foldMerged(state: StrandsState, fields: Fields, emit: Out): boolean {
  const merged = readMerged(fields);
  if (merged === undefined) return false;
  if (currentMessage(state)?.carrier === "event") return true;
  tellDelta(state, merged, "data", emit);
  return true;
}

export function isMerged(fields: Fields): boolean {
  return readMerged(fields) !== undefined;
}

/** Folds text that came by itself: the whole answer of some apps, a repetition or a remark in others. */
export function foldBareText(state: StrandsState, text: string, emit: Out): void {
  if (text === "") return;
  const heard = currentMessage(state);
  if (heard?.carrier === "event" && newPart(heard.said, "text", text) === "") return;
  if (heard?.carrier === "event" && heard.open) {
    // Put among the Converse events it would look like the model's own words.
    emit({ type: "unknown", what: "event", name: "text", raw: text });
    const message = "A bare text came inside a message that came in events, and is not part of it";
    return diagnose(state.converse, "text_disagrees", message, emit);
  }
  if (state.heard !== null && !state.heard.open && isSameText(textOf(state.heard), text)) return;
  tellDelta(state, { block: "text", delta: { text }, cycle: null }, "text", emit);
}

/** Ends a message that only the `data` carrier delivered: nothing on the wire does. */
export function closeDataMessage(state: StrandsState, emit: Out): void {
  const heard = currentMessage(state);
  if (heard === null || !heard.open || heard.carrier !== "data") return;
  closeDataBlock(state, heard, emit);
  tell(state, "messageStop", {}, emit);
  heard.settled = true;
}

export function closeDataBlock(state: StrandsState, heard: HeardMessage, emit: Out): void {
  if (heard.dataBlock === null) return;
  heard.dataBlock = null;
  tell(state, "contentBlockStop", {}, emit);
}

function readMerged(fields: Fields): MergedDelta | undefined {
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

function tellDelta(state: StrandsState, merged: MergedDelta, carrier: Carrier, emit: Out): void {
  const { block, cycle } = merged;
  leaveCycle(state, cycle, emit);
  const delta = newDelta(currentMessage(state), merged, carrier);
  if (delta === null) return;
  if (currentMessage(state)?.open !== true) tell(state, "messageStart", ASSISTANT, emit);
  const heard = currentMessage(state);
  if (heard === null) return;
  heard.carrier = "data";
  heard.merged ||= carrier === "data";
  heard.cycle = cycle ?? heard.cycle;
  if (heard.dataBlock !== block) closeDataBlock(state, heard, emit);
  heard.dataBlock = block;
  tell(state, "contentBlockDelta", { delta }, emit);
  saidAll(heard.said, carrier);
}

/** Each cycle of the loop is a message. */
function leaveCycle(state: StrandsState, cycle: string | null, emit: Out): void {
  const last = currentMessage(state)?.cycle ?? null;
  if (last !== null && cycle !== null && last !== cycle) closeDataMessage(state, emit);
}

/** What a delta brings that the other carriers of an open message have not brought; null for nothing. */
function newDelta(
  heard: HeardMessage | null,
  { delta }: MergedDelta,
  carrier: Carrier,
): Fields | null {
  const { text } = delta;
  if (heard?.open !== true || typeof text !== "string" || text === "") return delta;
  const rest = newPart(heard.said, carrier, text);
  return rest === "" ? null : { text: rest };
}

const ASSISTANT = { role: "assistant" } as const;
