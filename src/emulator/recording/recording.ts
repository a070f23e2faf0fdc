import { readFile } from "node:fs/promises";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../data/json.ts";
import { isFinalStatus, isHeaderName, isHeaderValue } from "../../http/routing/response-limits.ts";
import type { Clock } from "../../platform/clock.ts";
import { ConnectionReset, type EmulatorResponse } from "../service/service-types.ts";

/** An answer with the times at which its bytes came. */
export interface Recording {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly chunks: readonly RecordedChunk[];
  /** Milliseconds from the start of the answer to its end. */
  readonly endedAt: number;
  readonly end: RecordedEnd;
}

export interface RecordedChunk {
  /** Milliseconds since the answer began. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** `left`: the client went first. */
export type RecordedEnd = "whole" | "reset" | "left";

export type ReplaySpeed = "recorded" | "full";

/** The same status, headers and bytes again, in the same pieces: with the waits between them, or without. */
export function replayRecording(
  recording: Recording,
  speed: ReplaySpeed,
  clock: Clock,
): EmulatorResponse {
  const { status, headers } = recording;
  return { status, headers, body: replayBody(recording, speed, clock) };
}

async function* replayBody(
  { chunks, endedAt, end }: Recording,
  speed: ReplaySpeed,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  const start = clock.now();
  const waitUntil = async (at: number): Promise<void> => {
    const wait = speed === "full" ? 0 : start + at - clock.now();
    if (wait > 0) {
      await new Promise<void>((resolve) => {
        clock.schedule(wait, resolve);
      });
    }
  };
  for (const { at, bytes } of chunks) {
    await waitUntil(at);
    yield bytes;
  }
  await waitUntil(endedAt);
  if (end === "reset") throw new ConnectionReset("The recorded connection was reset here");
}

/** Reads a recording, or any other capture as an answer of one piece whose content type its first bytes tell. */
export async function readRecording(path: string): Promise<Recording> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new SpanlineError("invalid_option", `Cannot replay ${path}: ${reason}`, { cause });
  }
  return parseRecording(bytes, path) ?? toRecording(bytes);
}

function parseRecording(bytes: Buffer, path: string): Recording | null {
  const firstLine = bytes.subarray(0, Math.max(0, bytes.indexOf(0x0a))).toString("utf8");
  const parsed = parseJson(firstLine);
  if (!parsed.ok || !isObject(parsed.value) || parsed.value["recording"] !== 1) return null;
  const { status } = parsed.value;
  const headers = parseHeaders(parsed.value["headers"]);
  if (typeof status !== "number" || !isFinalStatus(status) || headers === null) {
    throw createRecordingError(path, 1);
  }
  const chunks: RecordedChunk[] = [];
  let endedAt = 0;
  let end: RecordedEnd = "left";
  const lines = bytes.toString("utf8").split("\n").slice(1);
  for (const [number, line] of lines.entries()) {
    if (line === "") continue;
    const entry = parseJson(line);
    if (!entry.ok || !isObject(entry.value)) throw createRecordingError(path, number + 2);
    const { at, bytes: base64, end: how } = entry.value;
    if (typeof at !== "number") throw createRecordingError(path, number + 2);
    if (typeof base64 === "string") chunks.push({ at, bytes: Buffer.from(base64, "base64") });
    if (how === "whole" || how === "reset" || how === "left") end = how;
    endedAt = at;
  }
  return { status, headers, chunks, endedAt, end };
}

/** Null where there is one that could not be sent again. */
function parseHeaders(value: unknown): Recording["headers"] | null {
  if (!isObject(value)) return null;
  const headers: { [name: string]: string } = {};
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== "string" || !isHeaderName(name) || !isHeaderValue(text)) return null;
    headers[name] = text;
  }
  return headers;
}

function createRecordingError(path: string, line: number): SpanlineError {
  const message = `Cannot replay ${path}: line ${line} is not what a recording has there`;
  return new SpanlineError("invalid_option", message);
}

function toRecording(bytes: Uint8Array): Recording {
  return {
    status: 200,
    headers: { "content-type": guessContentType(bytes) },
    chunks: [{ at: 0, bytes }],
    endedAt: 0,
    end: "whole",
  };
}

/** A frame begins with its length, whose first byte is zero in any that is shorter than 16 MiB. */
function guessContentType(bytes: Uint8Array): string {
  if (bytes[0] === 0) return "application/vnd.amazon.eventstream";
  const text = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  return text.startsWith("{") || text.startsWith("[") ? "application/json" : "text/event-stream";
}
