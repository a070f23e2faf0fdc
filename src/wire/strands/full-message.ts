import { isObject } from "../../domain/json.ts";
import { diagnose } from "../converse/state.ts";
import { currentMessage, endsWithText, holds, tell, textOf } from "./heard.ts";
import { closeDataBlock, closeDataMessage } from "./merged.ts";
import { readMessage, type FullMessage, type MessageBlock } from "./message-blocks.ts";
import { tellBlock, tellResults } from "./message-events.ts";
import { rememberMessage, type Fields, type HeardMessage, type Out } from "./state.ts";
import type { StrandsState } from "./state.ts";

/**
 * Folds a message that came in one piece. Most of the time its content was heard before, from Converse events: then only what
 * is missing is told, and where the two differ this copy is right.
 */
export function foldFullMessage(
  state: StrandsState,
  fields: Fields,
  stopReason: string | undefined,
  emit: Out,
): void {
  const message = readMessage(fields);
  if (message.id !== undefined && state.recentMessages.includes(message.id)) return;
  if (message.id !== undefined) rememberMessage(state, message.id);
  if (message.role === "user") return foldUserMessage(state, message, emit);
  const heard = currentMessage(state);
  if (isWithdrawn(state, message)) {
    if (heard !== null) confirm(state, message, stopReason, emit);
    return;
  }
  if (isRepeated(state, message)) return;
  if (heard === null || (heard.open && heard.blocks.size === 0)) tellWhole(state, message, emit);
  else reconcile(state, heard, message, emit);
  confirm(state, message, stopReason, emit);
}

/** Results of calls that are already answered are repetitions, one by one. What holds none is the prompt. */
function foldUserMessage(state: StrandsState, message: FullMessage, emit: Out): void {
  const blocks = message.blocks.filter(
    (block) => block.kind !== "result" || state.converse.calls.get(block.callId)?.answered !== true,
  );
  if (!blocks.some(({ kind }) => kind === "result")) return;
  closeDataMessage(state, emit);
  tellResults(state, blocks, emit);
}

function isWithdrawn({ heard }: StrandsState, { text }: FullMessage): boolean {
  return text !== "" && heard?.withdrawn === text;
}

/** Strands TS says each message several times, and its old versions gave some or all messages no id. */
function isRepeated(state: StrandsState, message: FullMessage): boolean {
  const { heard, converse } = state;
  const awaited = currentMessage(state);
  const calls = message.blocks.filter((block) => block.kind === "call");
  if (calls.length > 0) {
    const awaitedCalls = callsOf(awaited);
    return calls.every(({ callId }) => converse.calls.has(callId) && !awaitedCalls.has(callId));
  }
  if (awaited !== null || heard === null) return false;
  if (message.id !== undefined && heard.id !== null) return false;
  const isLast = heard.number === converse.message?.number;
  return isLast && heard.confirmed && textOf(heard) === message.text;
}

function callsOf(heard: HeardMessage | null): ReadonlySet<string> {
  const calls = new Set<string>();
  if (heard === null) return calls;
  for (const block of heard.blocks.values()) if (block.kind === "call") calls.add(block.text);
  return calls;
}

function tellWhole(state: StrandsState, message: FullMessage, emit: Out): void {
  if (currentMessage(state) === null) tell(state, "messageStart", { role: "assistant" }, emit);
  if (state.heard !== null) state.heard.carrier = "message";
  for (const block of message.blocks) tellBlock(state, block, emit);
}

function reconcile(
  state: StrandsState,
  heard: HeardMessage,
  message: FullMessage,
  emit: Out,
): void {
  const missing = missingBlocks(heard, message);
  reconcileText(state, heard, message.text, emit);
  closeDataBlock(state, heard, emit);
  for (const block of message.blocks) {
    const isNews = block.kind === "unknown" || (block.kind === "citation" && !heard.cited);
    if (isNews) tellBlock(state, block, emit);
  }
  if (missing.length === 0) return;
  if (heard.open) for (const block of missing) tellBlock(state, block, emit);
  else tellRest(state, heard, missing, emit);
}

/** Blocks that come to light behind the end of their message. */
function tellRest(
  state: StrandsState,
  heard: HeardMessage,
  blocks: readonly MessageBlock[],
  emit: Out,
): void {
  const note = `${blocks.length} block(s) were in the full message only; they follow as a message`;
  diagnose(state.converse, "text_disagrees", note, emit);
  tell(state, "messageStart", { role: "assistant" }, emit);
  for (const block of blocks) tellBlock(state, block, emit);
  tell(state, "messageStop", { stopReason: heard.reason ?? undefined }, emit);
  if (state.heard !== null) state.heard.usageSeen = heard.usageSeen;
}

/** Text is compared as a whole; calls by id; reasoning only when there was none, as its deltas may be withheld. */
function missingBlocks(heard: HeardMessage, message: FullMessage): MessageBlock[] {
  const calls = callsOf(heard);
  const reasoned = holds(heard, "reasoning");
  return message.blocks.filter((block) => {
    if (block.kind === "call") return !calls.has(block.callId);
    return block.kind === "reasoning" && !reasoned;
  });
}

function reconcileText(state: StrandsState, heard: HeardMessage, text: string, emit: Out): void {
  const told = textOf(heard);
  if (told === text || (heard.carrier === "data" && endsWithText(told, text))) return;
  const goesOn = text.startsWith(told);
  if (goesOn && heard.open) {
    if (heard.dataBlock !== "text") closeDataBlock(state, heard, emit);
    tell(state, "contentBlockDelta", { delta: { text: text.slice(told.length) } }, emit);
    if (heard.dataBlock === null) tell(state, "contentBlockStop", {}, emit);
    return;
  }
  if (!goesOn && heard.replacement === null) {
    const note = "The full message differs from the text of its events; the full one stands";
    diagnose(state.converse, "text_disagrees", note, emit);
  }
  heard.replacement = text;
  emit({ type: "message.replaced", message: heard.number, text });
}

/** Ends the message if no Converse event did, and counts its tokens if none has. */
function confirm(
  state: StrandsState,
  message: FullMessage,
  stopReason: string | undefined,
  emit: Out,
): void {
  const { heard } = state;
  if (heard === null) return;
  if (heard.open) {
    closeDataBlock(state, heard, emit);
    const forced = holds(heard, "call") ? "tool_use" : undefined;
    tell(state, "messageStop", { stopReason: stopReason ?? forced }, emit);
  }
  if (!heard.usageSeen && isObject(message.metadata)) {
    const { usage, metrics } = message.metadata;
    if (isObject(usage)) tell(state, "metadata", { usage, metrics }, emit);
  }
  heard.usageSeen = true;
  heard.confirmed = true;
  heard.id = message.id ?? null;
  state.confirmsMessages = true;
  state.confirmsStrings ||= heard.carrier === "data" && !heard.merged;
  heard.settled = true;
  state.hole = null;
  state.suspect = null;
}
