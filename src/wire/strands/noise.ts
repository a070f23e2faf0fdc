import { getCurrentMessage } from "./message-tracker.ts";
import type { TrackedMessage, StrandsState } from "./state.ts";

/**
 * Returns whether a data line can be skipped, judged by the first bytes of its value: the repr of a merged event whose
 * content arrived as a Converse event before. From the second cycle on, each such repr contains the whole conversation.
 */
export function isNoise(state: StrandsState, start: Uint8Array): boolean {
  if (start[0] !== QUOTE || start[1] !== BRACE || start[2] !== APOSTROPHE) return false;
  const key = readWord(start, KEY_OFFSET);
  // The value follows `': `; its first word starts one or two characters later.
  const valueOffset = KEY_OFFSET + key.length + 3;
  if (MERGED_KEYS.has(key)) return isEventCarrier(getCurrentMessage(state));
  if (key === "type") return isRepeatedType(state, readWord(start, valueOffset + 1));
  if (key === "result") return isTurnFinished(state);
  return key === "current_tool_use" || (key === "delta" && isToolDelta(start, valueOffset));
}

/** The same check for a line which is already decoded. */
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

/** Arguments in `tool_use_stream` may be ahead of their Converse events and are never used. */
function isRepeatedType(state: StrandsState, type: string): boolean {
  if (type === "tool_use_stream") return true;
  return state.hasNestedEvents && (type === "tool_stream" || type === "multiagent_node_stream");
}

/** A result repeats known content if the last message is confirmed and ended for a reason other than tool use. */
function isTurnFinished({ trackedMessage, converse }: StrandsState): boolean {
  if (
    trackedMessage === null ||
    !trackedMessage.isConfirmed ||
    trackedMessage.number !== converse.message?.number
  )
    return false;
  return trackedMessage.reason !== null && trackedMessage.reason !== "tool_use";
}

/**
 * Reads the characters up to the next apostrophe. Runs for every line; a `TextDecoder` would be four times as
 * expensive.
 */
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
