import { isObject, parseJson } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatNames } from "../../text/unknown-name.ts";
import { parseCursor } from "./cursor-text.ts";
import type { LiveRequest, LiveTopic } from "./live-frames.ts";
import { createInvalidFrame, createUnknownFrame, type DecodedLive } from "./live-problem.ts";

/** Characters of a message from a client. */
const MAX_LIVE_REQUEST_LENGTH = 4096;
const MAX_ID_LENGTH = 64;
const MAX_SESSION_ID_LENGTH = 512;
const MAX_NAME_LENGTH = 128;

/**
 * Decodes a text message from a client. Unknown fields are ignored, so that a server accepts the frames of a newer
 * client.
 */
export function decodeLiveRequest(text: string): DecodedLive<LiveRequest> {
  if (text.length > MAX_LIVE_REQUEST_LENGTH)
    return createInvalidFrame(`The frame has more than ${MAX_LIVE_REQUEST_LENGTH} characters`);
  const parsed = parseJson(text);
  if (!parsed.ok) return createInvalidFrame(`The frame is not valid JSON: ${parsed.reason}`);
  const fields: unknown = parsed.value;
  if (!isObject(fields) || typeof fields["type"] !== "string")
    return createInvalidFrame(`The frame is not an object with a "type"`);
  const { type } = fields;
  const reader = new FieldReader(fields);
  const id = reader.findName();
  if (!isRequestType(type)) return createUnknownFrame(type, REQUEST_TYPES, id);
  const frame = DECODERS[type](reader);
  const { problem } = reader;
  if (problem === undefined) return { ok: true, frame };
  return createInvalidFrame(`The frame "${type}" is not valid: ${problem}`, id);
}

/** A decoder per frame type. The frame is discarded if the reader has found a problem. */
const DECODERS: {
  readonly [Type in LiveRequest["type"]]: (
    fields: FieldReader,
  ) => Extract<LiveRequest, { readonly type: Type }>;
} = {
  subscribe: (fields) => ({
    type: "subscribe",
    id: fields.readId(),
    sessionId: fields.readString("sessionId", MAX_SESSION_ID_LENGTH),
    ...omitUndefined({ cursor: fields.readCursor() }),
  }),
  unsubscribe: (fields) => ({ type: "unsubscribe", id: fields.readId() }),
  attach: (fields) => ({
    type: "attach",
    id: fields.readId(),
    name: fields.readString("name", MAX_NAME_LENGTH),
    mode: fields.readChoice("mode", ["controller", "observer"]),
    ...omitUndefined({
      takeOver: fields.readFlag("takeOver"),
      clientId: fields.readOptionalString("clientId", MAX_NAME_LENGTH),
    }),
  }),
  detach: (fields) => ({ type: "detach", id: fields.readId() }),
  watch: (fields) => ({ type: "watch", topic: fields.readChoice("topic", LIVE_TOPICS) }),
  unwatch: (fields) => ({ type: "unwatch", topic: fields.readChoice("topic", LIVE_TOPICS) }),
  ping: (fields) => ({ type: "ping", id: fields.readNumber("id") }),
};

const REQUEST_TYPES = Object.keys(DECODERS);
const LIVE_TOPICS = ["sessions", "inbox"] as const satisfies readonly LiveTopic[];

function isRequestType(type: string): type is LiveRequest["type"] {
  return Object.hasOwn(DECODERS, type);
}

/** Reads the fields of a frame. An invalid field sets `problem` and is read as a placeholder. Null counts as absent. */
class FieldReader {
  readonly #fields: { readonly [name: string]: unknown };
  #problem: string | undefined;

  constructor(fields: { readonly [name: string]: unknown }) {
    this.#fields = fields;
  }

  /** The first problem. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The subscription or topic named by the frame, for the refusal of the frame. */
  findName(): string | undefined {
    const name = this.#read("id") ?? this.#read("topic");
    return typeof name === "string" && name.length <= MAX_ID_LENGTH ? name : undefined;
  }

  readId(): string {
    return this.readString("id", MAX_ID_LENGTH);
  }

  readString(name: string, maxLength: number): string {
    return this.readOptionalString(name, maxLength) ?? this.#fail(`"${name}" is missing`, "");
  }

  readOptionalString(name: string, maxLength: number): string | undefined {
    const value = this.#read(name);
    if (value === undefined) return undefined;
    if (typeof value === "string" && value !== "" && value.length <= maxLength) return value;
    return this.#fail(`"${name}" is not a string of 1 to ${maxLength} characters`, undefined);
  }

  readNumber(name: string): number {
    const value = this.#read(name);
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    return this.#fail(`"${name}" is not a whole number`, 0);
  }

  readFlag(name: string): boolean | undefined {
    const value = this.#read(name);
    if (value === undefined || typeof value === "boolean") return value;
    return this.#fail(`"${name}" is not a boolean`, undefined);
  }

  readChoice<Name extends string>(name: string, choices: readonly [Name, ...Name[]]): Name {
    const value = this.#read(name);
    const choice = choices.find((allowed) => allowed === value);
    return choice ?? this.#fail(`"${name}" is not ${formatNames(choices)}`, choices[0]);
  }

  readCursor(): string | undefined {
    const value = this.#read("cursor");
    if (value === undefined) return undefined;
    if (typeof value === "string" && parseCursor(value) !== undefined) return value;
    return this.#fail(`"cursor" is not a cursor of this server`, undefined);
  }

  /** Reads own fields only: a field may be named `constructor`. */
  #read(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? (this.#fields[name] ?? undefined) : undefined;
  }

  #fail<Placeholder>(problem: string, placeholder: Placeholder): Placeholder {
    this.#problem ??= problem;
    return placeholder;
  }
}
