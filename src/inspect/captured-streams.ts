import { SpanlineError } from "../domain/errors.ts";
import { detectFormat, type CaptureFormat, type StreamFormat } from "./capture-format.ts";
import { recordedAnswers, type RecordedAnswer } from "./recorded-answers.ts";

export interface Capture {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** For messages: what is being read. */
  readonly name: string;
  /** Detected from the first bytes when it is not given. */
  readonly capture?: CaptureFormat;
}

/** The stream of one turn. */
export interface CapturedStream {
  readonly format: StreamFormat;
  /** Somebody said what it is. */
  readonly isNamed: boolean;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Where it is part of a recording. */
  readonly recorded?: RecordedAnswer;
}

/** The streams in a capture: one, or those of a recording. Each is read before the next is asked for. */
export async function* capturedStreams(capture: Capture): AsyncGenerator<CapturedStream> {
  const { format, chunks } = await detected(capture);
  if (format !== "recording") {
    yield { format, chunks, isNamed: capture.capture !== undefined };
    return;
  }
  let count = 0;
  for await (const recorded of recordedAnswers(chunks)) {
    count += 1;
    const format = formatOf(recorded.contentType);
    yield { format, chunks: recorded.body, isNamed: true, recorded };
  }
  if (count === 0) throw unreadable(capture.name, "no recording in it");
}

/** An app that says nothing of its answer, or something else, is read as a client of it would. */
function formatOf(contentType: string | null): StreamFormat {
  if (contentType?.startsWith("application/vnd.amazon.eventstream") === true) return "eventstream";
  return contentType?.startsWith("application/json") === true ? "json" : "sse";
}

export function unreadable(name: string, found: string, more = ""): SpanlineError {
  const supported = `AWS event streams, SSE, JSON arrays, JSON lines and the emulator's recordings${more}`;
  const message = `Cannot read ${name}: found ${found}; supported are ${supported}`;
  return new SpanlineError("unreadable_input", message);
}

interface Detected {
  readonly format: CaptureFormat;
  /** All of the capture, its start included. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function detected({ chunks, capture, name }: Capture): Promise<Detected> {
  if (capture !== undefined) return { format: capture, chunks };
  const rest = chunks[Symbol.asyncIterator]();
  const start: Uint8Array[] = [];
  let bytes = 0;
  let looked = 0;
  for (;;) {
    const next = await rest.next();
    const isAll = next.done === true;
    if (!isAll) bytes += start[start.push(next.value) - 1]?.length ?? 0;
    // A look costs as much as the start is long; looking at every doubling keeps that linear.
    if (!isAll && bytes < 2 * looked) continue;
    looked = bytes;
    const format = detectFormat(Buffer.concat(start), isAll);
    if (format === undefined) continue;
    if (typeof format === "string") return { format, chunks: replay(start, rest) };
    await rest.return?.();
    throw unreadable(name, format.found);
  }
}

async function* replay(
  start: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* start;
    yield* { [Symbol.asyncIterator]: () => rest };
  } finally {
    await rest.return?.();
  }
}
