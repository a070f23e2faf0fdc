import { SpanlineError } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { detectFormat, type CaptureFormat } from "./capture-format.ts";
import { captureReader } from "./capture-reader.ts";
import { outputEncoder } from "./output-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import type { Style } from "./style.ts";

export interface InspectOptions {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** For messages: what is being read. */
  readonly name: string;
  /** Detected from the first bytes when it is not given. */
  readonly capture?: CaptureFormat;
  readonly output: OutputFormat;
  readonly style: Style;
  /** Takes the output; answering false ends the reading, since nobody listens any more. */
  readonly write: (text: string) => Promise<boolean>;
}

/** Reads a capture and writes it in another form, piece by piece: a capture may be larger than memory. */
export async function inspect(options: InspectOptions): Promise<void> {
  const { format, chunks } = await recognised(options);
  const encoder = outputEncoder(options.output, options.style);
  const encoding = encoder.initial();
  let pending = "";
  const collect = (text: string): void => void (pending += text);
  const emit = (event: ProviderEvent): void => encoder.step(encoding, event, collect);
  const reader = captureReader(format);
  const state = reader.initial();
  for await (const chunk of chunks) {
    reader.step(state, chunk, emit);
    if (pending !== "" && !(await options.write(pending))) return;
    pending = "";
  }
  reader.finish(state, emit);
  encoder.finish(encoding, collect);
  await options.write(pending);
}

interface Recognised {
  readonly format: CaptureFormat;
  /** All of the capture, its start included. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function recognised({ chunks, capture, name }: InspectOptions): Promise<Recognised> {
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
    throw new SpanlineError(
      "unreadable_input",
      `Cannot read ${name}: found ${format.found}; supported are AWS event streams, SSE, JSON arrays and JSON lines`,
    );
  }
}

async function* replay(
  start: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* start;
  yield* { [Symbol.asyncIterator]: () => rest };
}
