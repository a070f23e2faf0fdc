import type { SpanlineError } from "../domain/errors.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { captureReader } from "./capture-reader.ts";
import {
  capturedStreams,
  unreadable,
  type Capture,
  type CapturedStream,
} from "./captured-streams.ts";
import { outputEncoder } from "./output-encoder.ts";
import type { OutputFormat } from "./output-format.ts";
import type { RecordedAnswer } from "./recorded-answers.ts";
import { recognise, type Recognition } from "./recognition.ts";
import { oneLine, type Style } from "./style.ts";

export interface InspectOptions extends Capture {
  readonly output: OutputFormat;
  readonly style: Style;
  /** Takes the output, if only none of it; answering false ends the reading, since nobody listens any more. */
  readonly write: (text: string) => Promise<boolean>;
}

/** Reads a capture and writes it in another form, piece by piece: a capture may be larger than memory. */
export async function inspect(options: InspectOptions): Promise<void> {
  let number = 0;
  for await (const stream of capturedStreams(options)) {
    number += 1;
    if (!(await show(stream, number, options))) return;
  }
}

/** False when nobody listens any more. */
async function show(
  stream: CapturedStream,
  number: number,
  { name, output, style, write }: InspectOptions,
): Promise<boolean> {
  const { format, recorded, isNamed } = stream;
  // The other formats, and whoever names one, say enough by that.
  const known = isNamed || !format.startsWith("json");
  const recognition: Recognition = { known, strange: false, failure: undefined };
  // A plain capture is one turn and has no id of its own.
  const scope = recorded === undefined ? "capture" : `${recorded.session ?? "recording"}-${number}`;
  const encoder = outputEncoder(output, { style, scope });
  const encoding = encoder.initial();
  const titled = output === "text" ? recorded : undefined;
  let pending = titled === undefined ? "" : style.dim(title(titled, number));
  const collect = (text: string): void => void (pending += text);
  const emit = (event: ProviderEvent): void => {
    recognise(recognition, event);
    encoder.step(encoding, event, collect);
  };
  const reader = captureReader(format, recognition.known ? "structured-result" : "unknown");
  const state = reader.initial();
  for await (const chunk of stream.chunks) {
    reader.step(state, chunk, emit);
    if (recognition.known) {
      if (!(await write(pending))) return false;
      pending = "";
    } else if (pending.length > MOST_HELD_CHARACTERS) throw unrecognised(name, recognition);
    if (reader.isOver?.(state) === true) break;
  }
  reader.finish(state, emit);
  encoder.finish(encoding, collect);
  if (!recognition.known) throw unrecognised(name, recognition);
  if (titled !== undefined) collect(style.dim(ending(titled)));
  return write(pending);
}

/** What is held back while nothing of a capture is known. */
const MOST_HELD_CHARACTERS = 4 * 1024 * 1024;

function title({ session, contentType }: RecordedAnswer, number: number): string {
  const of = session === null ? "" : ` of session ${session}`;
  const gap = number === 1 ? "" : "\n";
  return `${gap}${oneLine(`recording ${number}${of} (${contentType ?? "no content type"})`)}\n`;
}

function ending({ ending }: RecordedAnswer): string {
  const { how, at } = ending();
  return `${oneLine(`${ENDINGS.get(how) ?? how} after ${at / 1000} s`)}\n`;
}

const ENDINGS: ReadonlyMap<string, string> = new Map([
  ["whole", "the answer was over"],
  ["reset", "the connection was reset"],
  ["left", "the client left"],
  ["cut", "the recording stops"],
  ["unread", "not read on"],
]);

function unrecognised(name: string, { failure }: Recognition): SpanlineError {
  const isDamaged = failure !== undefined && failure.code !== "incomplete_turn";
  const why = isDamaged ? ` (${oneLine(failure.message)})` : "";
  const found = `JSON in which no event of a known stream was recognised${why}`;
  return unreadable(name, found, ", and with --as json any answer of an app");
}
