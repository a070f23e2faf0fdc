import { SpanlineError } from "../domain/errors.ts";
import { detectFormat, type CaptureFormat, type StreamFormat } from "./capture-format.ts";
import { readRecordedResponses, type RecordedResponse } from "./recorded-responses.ts";

export interface Capture {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The name of the input, for messages. */
  readonly name: string;
  /** Default: detected from the first bytes. */
  readonly capture?: CaptureFormat;
}

/** The stream of a single turn. */
export interface CapturedStream {
  readonly format: StreamFormat;
  /** Whether the format was named rather than detected. */
  readonly isFormatGiven: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Undefined unless the stream is part of a recording. */
  readonly recordedResponse?: RecordedResponse;
}

/** The streams of a capture: one, or several in a recording. Each stream must be read before the next is requested. */
export async function* readCapturedStreams(capture: Capture): AsyncGenerator<CapturedStream> {
  const { format, chunks } = await detectCapture(capture);
  if (format !== "recording") {
    yield { format, chunks, isFormatGiven: capture.capture !== undefined };
    return;
  }
  let count = 0;
  for await (const recordedResponse of readRecordedResponses(chunks)) {
    count += 1;
    const format = resolveFormat(recordedResponse.contentType);
    yield { format, chunks: recordedResponse.body, isFormatGiven: true, recordedResponse };
  }
  if (count === 0) throw createUnreadableError(capture.name, "a file without a recording");
}

/** Without a known content type, the response is read as SSE, as a client would. */
function resolveFormat(contentType: string | null): StreamFormat {
  if (contentType?.startsWith("application/vnd.amazon.eventstream") === true) return "eventstream";
  return contentType?.startsWith("application/json") === true ? "json" : "sse";
}

/** The error for input in no supported format. `extraFormats` extends the list of supported formats. */
export function createUnreadableError(
  name: string,
  description: string,
  extraFormats = "",
): SpanlineError {
  const supported = `AWS event streams, SSE, JSON arrays, JSON lines and the emulator's recordings${extraFormats}`;
  const message = `Cannot read ${name}: found ${description}; supported are ${supported}`;
  return new SpanlineError("unreadable_input", message);
}

interface DetectedCapture {
  readonly format: CaptureFormat;
  /** The whole capture, including the bytes already read. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function detectCapture({ chunks, capture, name }: Capture): Promise<DetectedCapture> {
  if (capture !== undefined) return { format: capture, chunks };
  const iterator = chunks[Symbol.asyncIterator]();
  const start: Uint8Array[] = [];
  let bytes = 0;
  let checkedBytes = 0;
  for (;;) {
    const next = await iterator.next();
    const isAll = next.done === true;
    if (!isAll) bytes += start[start.push(next.value) - 1]?.length ?? 0;
    // A check costs time proportional to the bytes read so far. Checking only when the size doubles keeps the total
    // linear.
    if (!isAll && bytes < 2 * checkedBytes) continue;
    checkedBytes = bytes;
    const format = detectFormat(Buffer.concat(start), isAll);
    if (format === undefined) continue;
    if (typeof format === "string") return { format, chunks: concatChunks(start, iterator) };
    await iterator.return?.();
    throw createUnreadableError(name, format.description);
  }
}

async function* concatChunks(
  start: readonly Uint8Array[],
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* start;
    yield* { [Symbol.asyncIterator]: () => iterator };
  } finally {
    await iterator.return?.();
  }
}
