import { currentMessage } from "./heard.ts";
import type { HeardMessage, StrandsState } from "./state.ts";

/**
 * Whether a data line, by the first bytes of its value, is a repr that nobody needs to read: a merged event whose
 * content came as a chunk just before. From the second cycle on each of them holds the whole conversation.
 */
export function isNoise(state: StrandsState, start: Uint8Array): boolean {
  if (start[0] !== QUOTE || start[1] !== BRACE || start[2] !== APOSTROPHE) return false;
  return isNoiseText(state, ascii.decode(start));
}

/** The same for a line that is already text. */
export function isNoiseText(state: StrandsState, data: string): boolean {
  if (!data.startsWith(REPR_START)) return false;
  const [, key = "", value] = KEY.exec(data) ?? [];
  if (MERGED_KEYS.has(key)) return isHeardInChunks(currentMessage(state));
  if (key === "type") return isRepeatedType(state, value);
  if (key === "result") return isFinished(state);
  return key === "current_tool_use" || (key === "delta" && data.startsWith(TOOL_DELTA));
}

const REPR_START = `"{'`;
const KEY = /^"\{'(\w+)': (?:'(\w+)')?/;
const TOOL_DELTA = `"{'delta': {'toolUse'`;

const MERGED_KEYS: ReadonlySet<string> = new Set([
  "data",
  "reasoning",
  "reasoningText",
  "reasoning_signature",
  "reasoningRedactedContent",
  "citation",
]);

function isHeardInChunks(heard: HeardMessage | null): boolean {
  return heard?.channel === "event";
}

/** Arguments in `tool_use_stream` may run ahead of their chunks; they are never to be believed. */
function isRepeatedType(state: StrandsState, type: string | undefined): boolean {
  if (type === "tool_use_stream") return true;
  return state.nestedChunks && (type === "tool_stream" || type === "multiagent_node_stream");
}

/** The result of a turn whose last message is whole, and ended for a reason of its own, tells nothing new. */
function isFinished({ heard, converse }: StrandsState): boolean {
  if (heard === null || !heard.confirmed || heard.number !== converse.message?.number) return false;
  return heard.reason !== null && heard.reason !== "tool_use";
}

const ascii = new TextDecoder("latin1");
const QUOTE = 0x22;
const BRACE = 0x7b;
const APOSTROPHE = 0x27;
