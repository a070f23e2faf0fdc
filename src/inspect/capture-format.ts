import { toSingleLine } from "./trace-style.ts";

/**
 * Formats of a capture. `json` is one JSON document which is neither an array nor lines; `recording` is the emulator's
 * recording of its responses.
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

/** Formats which contain the stream itself rather than a recording. */
export type StreamFormat = Exclude<CaptureFormat, "recording">;

/** Describes the start of a capture in an unknown format. */
export interface UnknownFormat {
  readonly description: string;
}

/** A first line longer than this no longer helps to detect the format. */
const MAX_START_BYTES = 1024 * 1024;

/** Detects the format from the start of a capture. Undefined if more bytes would help and `isAll` is false. */
export function detectFormat(
  start: Uint8Array,
  isAll: boolean,
): CaptureFormat | UnknownFormat | undefined {
  if (start.length === 0) return isAll ? { description: "an empty file" } : undefined;
  if (looksLikeFrames(start)) return "eventstream";
  if (start.length < MIN_START_BYTES && !isAll) return undefined;
  const text = new TextDecoder().decode(start).trimStart();
  if (text === "" && !isAll && start.length < MAX_START_BYTES) return undefined;
  if (text.startsWith("[")) return "json-array";
  if (/^\{\s*"recording"\s*:\s*\d/.test(text)) return "recording";
  if (text.startsWith("{")) return distinguishJson(text, isAll);
  if (text.startsWith('"')) return "json";
  if (/^(data|event|id|retry)?:|^data[\r\n]/.test(text)) return "sse";
  return { description: describeStart(start, text) };
}

/** The length of a frame's prelude. */
const MIN_START_BYTES = 12;

/**
 * A frame starts with its length and the length of its headers, both below 2^24. Text never starts with a zero byte.
 */
function looksLikeFrames(start: Uint8Array): boolean {
  if (start.length < MIN_START_BYTES || start[0] !== 0 || start[4] !== 0) return false;
  const view = new DataView(start.buffer, start.byteOffset);
  const total = view.getUint32(0);
  return total >= 16 && view.getUint32(4) <= total - 16;
}

/** JSON lines if the first line is a whole object and more text follows; otherwise a document. */
function distinguishJson(text: string, isAll: boolean): CaptureFormat | undefined {
  const lineEnd = text.indexOf("\n");
  if (lineEnd === -1) return isAll || text.length >= MAX_START_BYTES ? "json" : undefined;
  const hasMore = text.slice(lineEnd).trim() !== "";
  if (!hasMore && !isAll && text.length < MAX_START_BYTES) return undefined;
  return hasMore && text.slice(0, lineEnd).trimEnd().endsWith("}") ? "json-lines" : "json";
}

function describeStart(start: Uint8Array, text: string): string {
  if (start[0] === 0x1f && start[1] === 0x8b) return "a gzip file; unpack it first";
  if (text.startsWith("HTTP/"))
    return "an HTTP response with headers; capture only the body (curl without -i)";
  if (text.startsWith("<")) return "an HTML page or XML";
  const isText = /^[\t\r\n\u0020-\u007e\u00a0-\u{fffc}\u{10000}-\u{10ffff}]*$/u.test(
    text.slice(0, 40),
  );
  if (isText) return `text that starts with ${JSON.stringify(toSingleLine(text.slice(0, 40)))}`;
  const bytes = [...start.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0"));
  return `binary data that starts with ${bytes.join(" ")}`;
}
