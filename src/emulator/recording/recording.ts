import { readFile } from "node:fs/promises";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject, parseJson } from "../../data/json.ts";
import { isFinalStatus, isHeaderName, isHeaderValue } from "../../http/routing/response-limits.ts";
import type { Clock } from "../../platform/clock.ts";
import { ConnectionReset, type EmulatorResponse } from "../service/service-types.ts";

/** A response with the times of its chunks. */
export interface Recording {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly chunks: readonly RecordedChunk[];
  /** Milliseconds from the start of the response to its end. */
  readonly endedAt: number;
  readonly end: RecordedEnd;
}

export interface RecordedChunk {
  /** Milliseconds since the start of the response. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** `left` means the client disconnected first. */
export type RecordedEnd = "whole" | "reset" | "left";

export type ReplaySpeed = "recorded" | "full";

/** Replays a response with the same status, headers and chunks, with or without the recorded delays. */
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

/**
 * Reads a recording. Any other file is treated as a response with a single chunk, whose content type is guessed from
 * the first bytes.
 */
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

/** Null if a header is not valid in a response. */
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
  const message = `Cannot replay ${path}: line ${line} is not valid in a recording`;
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

/** An event-stream frame starts with its length. The first byte is zero for all frames below 16 MiB. */
function guessContentType(bytes: Uint8Array): string {
  if (bytes[0] === 0) return "application/vnd.amazon.eventstream";
  const text = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart();
  return text.startsWith("{") || text.startsWith("[") ? "application/json" : "text/event-stream";
}
