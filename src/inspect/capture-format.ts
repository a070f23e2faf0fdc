import { oneLine } from "./style.ts";

/**
 * What a capture can be. `json` is one JSON document that is neither an array nor lines, `recording` what the emulator
 * keeps of its answers.
 */
export const CAPTURE_FORMATS = [
  "eventstream",
  "sse",
  "json-array",
  "json-lines",
  "json",
  "recording",
] as const;

export type CaptureFormat = (typeof CAPTURE_FORMATS)[number];

/** What holds the stream itself, not a recording of it. */
export type StreamFormat = Exclude<CaptureFormat, "recording">;

/** What the start of a capture looks like, in words, when it is none of the formats. */
export interface Unrecognised {
  readonly found: string;
}

/** A capture whose first line is longer than this cannot be told apart by it any more. */
const LONGEST_START = 1024 * 1024;

/** Tells a capture's format from its start; undefined while more of it would help and `isAll` does not deny it. */
export function detectFormat(
  start: Uint8Array,
  isAll: boolean,
): CaptureFormat | Unrecognised | undefined {
  if (start.length === 0) return isAll ? { found: "nothing: it is empty" } : undefined;
  if (looksLikeFrames(start)) return "eventstream";
  if (start.length < ENOUGH && !isAll) return undefined;
  const text = new TextDecoder().decode(start).trimStart();
  if (text === "" && !isAll && start.length < LONGEST_START) return undefined;
  if (text.startsWith("[")) return "json-array";
  if (/^\{\s*"recording"\s*:\s*\d/.test(text)) return "recording";
  if (text.startsWith("{")) return linesOrDocument(text, isAll);
  if (text.startsWith('"')) return "json";
  if (/^(data|event|id|retry)?:|^data[\r\n]/.test(text)) return "sse";
  return { found: describe(start, text) };
}

/** The prelude of a frame. */
const ENOUGH = 12;

/** A frame starts with its length and its headers' length, both below 2^24; no text starts with a zero byte. */
function looksLikeFrames(start: Uint8Array): boolean {
  if (start.length < ENOUGH || start[0] !== 0 || start[4] !== 0) return false;
  const view = new DataView(start.buffer, start.byteOffset);
  const total = view.getUint32(0);
  return total >= 16 && view.getUint32(4) <= total - 16;
}

/** A first line that holds a whole object, with more behind it, is one of many; anything else is a document. */
function linesOrDocument(text: string, isAll: boolean): CaptureFormat | undefined {
  const end = text.indexOf("\n");
  if (end === -1) return isAll || text.length >= LONGEST_START ? "json" : undefined;
  const hasMore = text.slice(end).trim() !== "";
  if (!hasMore && !isAll && text.length < LONGEST_START) return undefined;
  return hasMore && text.slice(0, end).trimEnd().endsWith("}") ? "json-lines" : "json";
}

function describe(start: Uint8Array, text: string): string {
  if (start[0] === 0x1f && start[1] === 0x8b) return "a gzip file; unpack it first";
  if (text.startsWith("HTTP/")) return "an HTTP head; capture the body alone (curl without -i)";
  if (text.startsWith("<")) return "a page or XML";
  const isText = /^[\t\r\n\u0020-\u007e\u00a0-\u{fffc}\u{10000}-\u{10ffff}]*$/u.test(
    text.slice(0, 40),
  );
  if (isText) return `text that begins ${JSON.stringify(oneLine(text.slice(0, 40)))}`;
  const bytes = [...start.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `binary data that begins ${bytes.join(" ")}`;
}
