import { streamCodec } from "../domain/codec.ts";
import { isObject, parseJson } from "../domain/json.ts";
import { jsonLinesDecoder, type JsonLinesItem } from "../wire/framing/json-lines.ts";

/** An answer that the emulator recorded. Its body is read before the next answer is asked for. */
export interface RecordedAnswer {
  readonly contentType: string | null;
  readonly session: string | null;
  readonly body: AsyncIterable<Uint8Array>;
  /** Known when the body is read. */
  readonly ending: () => RecordedEnding;
}

export interface RecordedEnding {
  /** The emulator's own word; `cut` where the recording stops without one, `unread` where its reader stopped. */
  readonly how: string;
  /** Milliseconds since the answer began. */
  readonly at: number;
}

/** All answers of a recording, or of several that were put one behind the other. */
export async function* recordedAnswers(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordedAnswer> {
  const lines = streamCodec(jsonLinesDecoder(), chunks);
  try {
    let head = await nextHead(lines);
    while (head !== null) {
      const progress: Progress = { ending: { how: "unread", at: 0 }, next: null };
      const { contentType, session } = head;
      const body = bodyOf(lines, progress);
      yield { contentType, session, body, ending: () => progress.ending };
      head = progress.next ?? (await nextHead(lines));
    }
  } finally {
    await lines.return();
  }
}

type Lines = AsyncGenerator<JsonLinesItem, void, undefined>;

interface Progress {
  ending: RecordedEnding;
  /** The head of the answer that follows one without an end. */
  next: Head | null;
}

/** Passes over what a body left that was not read to its end. */
async function nextHead(lines: Lines): Promise<Head | null> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done === true) return null;
    const entry = readEntry(value);
    if (entry?.type === "head") return entry;
  }
}

async function* bodyOf(lines: Lines, progress: Progress): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await lines.next();
    const entry = done === true ? null : readEntry(value);
    // Behind a piece that cannot be read, the others would be taken for what they are not.
    if (entry === null || entry.type === "head") {
      progress.next = entry;
      progress.ending = { ...progress.ending, how: "cut" };
      return;
    }
    const { at } = entry;
    progress.ending = { how: entry.type === "end" ? entry.how : "unread", at };
    if (entry.type === "end") return;
    yield entry.bytes;
  }
}

interface Head {
  readonly type: "head";
  readonly contentType: string | null;
  readonly session: string | null;
}

type Entry =
  | Head
  | { readonly type: "piece"; readonly at: number; readonly bytes: Uint8Array }
  | { readonly type: "end"; readonly at: number; readonly how: string };

/** Null when the line is not what a recording has there. */
function readEntry(item: JsonLinesItem): Entry | null {
  const parsed = item.type === "line" ? parseJson(item.text) : null;
  if (parsed === null || !parsed.ok || !isObject(parsed.value)) return null;
  const { recording, headers, at, bytes, end } = parsed.value;
  if (recording !== undefined) {
    const given = isObject(headers) ? headers : {};
    return {
      type: "head",
      contentType: text(given["content-type"]),
      session: text(given[SESSION]),
    };
  }
  if (typeof at !== "number") return null;
  if (typeof bytes === "string") return { type: "piece", at, bytes: Buffer.from(bytes, "base64") };
  return typeof end === "string" ? { type: "end", at, how: end } : null;
}

const SESSION = "x-amzn-bedrock-agentcore-runtime-session-id";

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
