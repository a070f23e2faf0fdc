import { getCurrentMessage } from "./message-tracker.ts";
import type { TrackedMessage, StrandsState } from "./state.ts";

/**
 * Whether a data line, by the first bytes of its value, is a repr that nobody needs to read: a merged event whose
 * content came as a Converse event just before. From the second cycle on each of them holds the whole conversation.
 */
export function isNoise(state: StrandsState, start: Uint8Array): boolean {
  if (start[0] !== QUOTE || start[1] !== BRACE || start[2] !== APOSTROPHE) return false;
  const key = readWord(start, KEY_OFFSET);
  // The value stands behind `': `, and its first word behind one or two characters more.
  const valueOffset = KEY_OFFSET + key.length + 3;
  if (MERGED_KEYS.has(key)) return isEventCarrier(getCurrentMessage(state));
  if (key === "type") return isRepeatedType(state, readWord(start, valueOffset + 1));
  if (key === "result") return isTurnFinished(state);
  return key === "current_tool_use" || (key === "delta" && isToolDelta(start, valueOffset));
}

/** The same for a line that is already text. */
export function isNoiseText(state: StrandsState, data: string): boolean {
  return data.startsWith(REPR_START) && isNoise(state, encoder.encode(data.slice(0, 64)));
}

const REPR_START = `"{'`;
const KEY_OFFSET = REPR_START.length;

const MERGED_KEYS: ReadonlySet<string> = new Set([
  "data",
  "reasoning",
  "reasoningText",
  "reasoning_signature",
  "reasoningRedactedContent",
  "citation",
]);

function isEventCarrier(message: TrackedMessage | null): boolean {
  return message?.carrier === "event";
}

function isToolDelta(start: Uint8Array, valueOffset: number): boolean {
  return start[valueOffset] === BRACE && readWord(start, valueOffset + 2) === "toolUse";
}

/** Arguments in `tool_use_stream` may run ahead of their Converse events; they are never to be believed. */
function isRepeatedType(state: StrandsState, type: string): boolean {
  if (type === "tool_use_stream") return true;
  return state.hasNestedEvents && (type === "tool_stream" || type === "multiagent_node_stream");
}

/** The result of a turn whose last message is whole, and ended for a reason of its own, tells nothing new. */
function isTurnFinished({ trackedMessage, converse }: StrandsState): boolean {
  if (
    trackedMessage === null ||
    !trackedMessage.isConfirmed ||
    trackedMessage.number !== converse.message?.number
  )
    return false;
  return trackedMessage.reason !== null && trackedMessage.reason !== "tool_use";
}

/** The letters from a place up to the next quote. This runs for every line, and a decoder would cost four times as much. */
function readWord(bytes: Uint8Array, from: number): string {
  let word = "";
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === undefined || byte === APOSTROPHE) return word;
    word += String.fromCharCode(byte);
  }
  return "";
}

const encoder = new TextEncoder();
const QUOTE = 0x22;
const BRACE = 0x7b;
const APOSTROPHE = 0x27;
