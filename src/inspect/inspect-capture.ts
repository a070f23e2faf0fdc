import type { SpanlineError, Failure } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import { createCaptureReader } from "./capture-reader.ts";
import {
  readCapturedStreams,
  createUnreadableError,
  type Capture,
  type CapturedStream,
} from "./captured-streams.ts";
import { createOutputEncoder } from "./output-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import type { RecordedResponse } from "./recorded-responses.ts";
import { toSingleLine, type Style } from "./trace-style.ts";

export interface InspectOptions extends Capture {
  readonly output: OutputFormat;
  readonly style: Style;
  /** Writes output; the text may be empty. Returning false stops the inspection: the output was closed. */
  readonly write: (text: string) => Promise<boolean>;
}

/** Reads a capture and writes it in another format, in parts: a capture may be larger than memory. */
export async function inspectCapture(options: InspectOptions): Promise<void> {
  let number = 0;
  for await (const stream of readCapturedStreams(options)) {
    number += 1;
    if (!(await writeStream(stream, number, options))) return;
  }
}

/** Returns false if the output was closed. */
async function writeStream(
  stream: CapturedStream,
  number: number,
  { name, output, style, write }: InspectOptions,
): Promise<boolean> {
  const { format, recordedResponse, isFormatGiven } = stream;
  // Other formats are recognizable by their framing; a named format needs no recognition.
  const isKnown = isFormatGiven || !format.startsWith("json");
  const recognition: Recognition = { isKnown, hasUnknown: false, failure: undefined };
  // A plain capture is a single turn without a session id.
  const scope =
    recordedResponse === undefined
      ? "capture"
      : `${recordedResponse.session ?? "recording"}-${number}`;
  const encoder = createOutputEncoder(output, { style, scope });
  const encoding = encoder.initial();
  const titledResponse = output === "text" ? recordedResponse : undefined;
  let pending = titledResponse === undefined ? "" : style.dim(formatTitle(titledResponse, number));
  const collect = (text: string): void => void (pending += text);
  const emit = (event: ProviderEvent): void => {
    updateRecognition(recognition, event);
    encoder.step(encoding, event, collect);
  };
  const reader = createCaptureReader(format, recognition.isKnown ? "structured-result" : "unknown");
  const state = reader.initial();
  for await (const chunk of stream.chunks) {
    reader.step(state, chunk, emit);
    if (recognition.isKnown) {
      if (!(await write(pending))) return false;
      pending = "";
    } else if (pending.length > MAX_PENDING_CHARACTERS)
      throw createUnrecognizedError(name, recognition);
    if (reader.isOver?.(state) === true) break;
  }
  reader.finish(state, emit);
  encoder.finish(encoding, collect);
  if (!recognition.isKnown) throw createUnrecognizedError(name, recognition);
  if (titledResponse !== undefined) collect(style.dim(formatEnding(titledResponse)));
  return write(pending);
}

/** Output buffered until the first known event proves the format. */
const MAX_PENDING_CHARACTERS = 4 * 1024 * 1024;

function formatTitle({ session, contentType }: RecordedResponse, number: number): string {
  const of = session === null ? "" : ` of session ${session}`;
  const gap = number === 1 ? "" : "\n";
  return `${gap}${toSingleLine(`recording ${number}${of} (${contentType ?? "no content type"})`)}\n`;
}

function formatEnding({ readEnding }: RecordedResponse): string {
  const { result, at } = readEnding();
  return `${toSingleLine(`${ENDINGS.get(result) ?? result} after ${at / 1000} s`)}\n`;
}

/** Descriptions of how a recorded response ended, by the emulator's value. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["whole", "the response was complete"],
  ["reset", "the connection was reset"],
  ["left", "the client left"],
  ["cut", "the recording stops"],
  ["unread", "not read to the end"],
]);

function createUnrecognizedError(name: string, { failure }: Recognition): SpanlineError {
  const isDamaged = failure !== undefined && failure.code !== "incomplete_turn";
  const why = isDamaged ? ` (${toSingleLine(failure.message)})` : "";
  const description = `JSON without any event of a known stream${why}`;
  return createUnreadableError(
    name,
    description,
    ", and any JSON response of an app with --as json",
  );
}

/** Records whether the data read so far is a known stream, because JSON may contain anything. */
interface Recognition {
  isKnown: boolean;
  /** Whether an unknown event was read. */
  hasUnknown: boolean;
  failure: Failure | undefined;
}

/** Any known event proves the format. Diagnostics and unknown events prove nothing. */
function updateRecognition(recognition: Recognition, event: ProviderEvent): void {
  switch (event.type) {
    case "diagnostic":
      return;
    case "unknown":
      recognition.hasUnknown = true;
      return;
    case "end":
      recognition.failure = event.failure;
      // An agent's error is a complete response, and so is an empty response.
      if (event.failure?.code === "stream_exception") recognition.isKnown = true;
      if (event.outcome === "completed" && !recognition.hasUnknown) recognition.isKnown = true;
      return;
    default:
      recognition.isKnown = true;
  }
}
