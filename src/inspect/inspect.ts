import { SpanlineError } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { detectFormat, type CaptureFormat } from "./capture-format.ts";
import { captureReader } from "./capture-reader.ts";
import { outputEncoder } from "./output-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import { recognise, type Recognition } from "./recognition.ts";
import { oneLine, type Style } from "./style.ts";

export interface InspectOptions {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** For messages: what is being read. */
  readonly name: string;
  /** Detected from the first bytes when it is not given. */
  readonly capture?: CaptureFormat;
  readonly output: OutputFormat;
  readonly style: Style;
  /** Takes the output, if only none of it; answering false ends the reading, since nobody listens any more. */
  readonly write: (text: string) => Promise<boolean>;
}

/** Reads a capture and writes it in another form, piece by piece: a capture may be larger than memory. */
export async function inspect(options: InspectOptions): Promise<void> {
  const { name, output, style, write } = options;
  const { format, chunks } = await detected(options);
  const recognition = recognitionOf(format, options.capture !== undefined);
  const encoder = outputEncoder(output, style);
  const encoding = encoder.initial();
  let pending = "";
  const collect = (text: string): void => void (pending += text);
  const emit = (event: ProviderEvent): void => {
    recognise(recognition, event);
    encoder.step(encoding, event, collect);
  };
  const reader = captureReader(format, recognition.known ? "structured-result" : "unknown");
  const state = reader.initial();
  for await (const chunk of chunks) {
    reader.step(state, chunk, emit);
    if (recognition.known) {
      if (!(await write(pending))) return;
      pending = "";
    } else if (pending.length > MOST_HELD_CHARACTERS) throw unrecognised(name, recognition);
    if (reader.isOver?.(state) === true) break;
  }
  reader.finish(state, emit);
  encoder.finish(encoding, collect);
  if (!recognition.known) throw unrecognised(name, recognition);
  await write(pending);
}

/** What is held back while nothing of a capture is known. */
const MOST_HELD_CHARACTERS = 4 * 1024 * 1024;

/** The other formats, and whoever names one, say enough by that. */
function recognitionOf(format: CaptureFormat, isNamed: boolean): Recognition {
  const known = isNamed || !format.startsWith("json");
  return { known, strange: false, failure: undefined };
}

function unrecognised(name: string, { failure }: Recognition): SpanlineError {
  const isDamaged = failure !== undefined && failure.code !== "incomplete_turn";
  const why = isDamaged ? ` (${oneLine(failure.message)})` : "";
  const found = `JSON in which no event of a known stream was recognised${why}`;
  return unreadable(name, found, ", and with --as json any answer of an app");
}

function unreadable(name: string, found: string, more = ""): SpanlineError {
  const supported = `AWS event streams, SSE, JSON arrays and JSON lines${more}`;
  const message = `Cannot read ${name}: found ${found}; supported are ${supported}`;
  return new SpanlineError("unreadable_input", message);
}

interface Detected {
  readonly format: CaptureFormat;
  /** All of the capture, its start included. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function detected({ chunks, capture, name }: InspectOptions): Promise<Detected> {
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
