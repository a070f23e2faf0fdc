import { streamCodec } from "../domain/codec.ts";
import { isObject, parseJson } from "../data/json.ts";
import { createJsonLinesDecoder, type JsonLinesItem } from "../wire/framing/json-lines.ts";

/** A response recorded by the emulator. Its body must be read before the next response is requested. */
export interface RecordedResponse {
  readonly contentType: string | null;
  readonly session: string | null;
  readonly body: AsyncIterable<Uint8Array>;
  /** Final only after the body was read. */
  readonly readEnding: () => RecordedEnding;
}

export interface RecordedEnding {
  /** The emulator's own value; `cut` if the recording has no end, `unread` if the reader stopped early. */
  readonly result: string;
  /** Milliseconds since the start of the response. */
  readonly at: number;
}

/** All responses of a recording, or of several concatenated recordings. */
export async function* readRecordedResponses(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordedResponse> {
  const lines = streamCodec(createJsonLinesDecoder(), chunks);
  try {
    let head = await readNextHead(lines);
    while (head !== null) {
      const progress: Progress = { ending: { result: "unread", at: 0 }, next: null };
      const { contentType, session } = head;
      const body = readBody(lines, progress);
      yield { contentType, session, body, readEnding: () => progress.ending };
      head = progress.next ?? (await readNextHead(lines));
    }
  } finally {
    await lines.return();
  }
}

type Lines = AsyncGenerator<JsonLinesItem, void, undefined>;

interface Progress {
  ending: RecordedEnding;
  /** The head of the next response, if the current response has no end. */
  next: Head | null;
}

/** Skips the unread rest of the previous body. */
async function readNextHead(lines: Lines): Promise<Head | null> {
  for (;;) {
    const { done, value } = await lines.next();
    if (done === true) return null;
    const entry = parseEntry(value);
    if (entry?.type === "head") return entry;
  }
}

async function* readBody(lines: Lines, progress: Progress): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await lines.next();
    const entry = done === true ? null : parseEntry(value);
    // After an unreadable line the byte stream has a gap, so the later pieces would be misread.
    if (entry === null || entry.type === "head") {
      progress.next = entry;
      progress.ending = { ...progress.ending, result: "cut" };
      return;
    }
    const { at } = entry;
    progress.ending = { result: entry.type === "end" ? entry.result : "unread", at };
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
  | { readonly type: "end"; readonly at: number; readonly result: string };

/** Null if the line is not a valid recording entry. */
function parseEntry(item: JsonLinesItem): Entry | null {
  const parsed = item.type === "line" ? parseJson(item.text) : null;
  if (parsed === null || !parsed.ok || !isObject(parsed.value)) return null;
  const { recording, headers, at, bytes, end } = parsed.value;
  if (recording !== undefined) {
    const headerFields = isObject(headers) ? headers : {};
    return {
      type: "head",
      contentType: toStringOrNull(headerFields["content-type"]),
      session: toStringOrNull(headerFields[SESSION_HEADER]),
    };
  }
  if (typeof at !== "number") return null;
  if (typeof bytes === "string") return { type: "piece", at, bytes: Buffer.from(bytes, "base64") };
  return typeof end === "string" ? { type: "end", at, result: end } : null;
}

const SESSION_HEADER = "x-amzn-bedrock-agentcore-runtime-session-id";

function toStringOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
