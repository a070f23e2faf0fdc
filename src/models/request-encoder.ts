import { ToolCallIdAllocator } from "../domain/model/tool-call-names.ts";
import { toJsonText, type JsonObject } from "../data/json.ts";
import { createRequestBody, type ModelDialect } from "../domain/model/model-dialect.ts";
import {
  alternateMessages,
  canSplitBetween,
  type Alternation,
  type ModelMessage,
  type ModelRequest,
  type PartEnd,
  type PartStart,
} from "../domain/model/model-request.ts";

/** Returns the body of a request as JSON in UTF-8, in consecutive parts. */
export type EncodeRequest = (request: ModelRequest) => readonly Uint8Array[];

/**
 * Creates an encoder that caches the encoding of each conversation's stable messages, so the cost of a request depends
 * only on its new messages. A conversation stays cached while its first message is reachable. `extra` adds members to
 * the body.
 */
export function createRequestEncoder(dialect: ModelDialect, extra: JsonObject = {}): EncodeRequest {
  const prefixes = new WeakMap<ModelMessage, EncodedPrefix>();
  const encodeWhole: EncodeRequest = (request) => [
    encodeUtf8(toJsonText({ ...createRequestBody(dialect, request), ...extra })),
  ];
  return (request) => {
    const { messages, stableCount = 0 } = request;
    const [first] = messages;
    if (first === undefined || stableCount === 0 || "messages" in extra)
      return encodeWhole(request);
    const cached = prefixes.get(first);
    const prefix =
      cached?.matches(messages, stableCount) === true ? cached : new EncodedPrefix(dialect);
    prefixes.set(first, prefix);
    const tail = prefix.advance(messages, stableCount);
    if (tail === undefined) {
      prefixes.delete(first);
      return encodeWhole(request);
    }
    const fields = toJsonText({ ...dialect.encodeFields(request), ...extra }).slice(0, -1);
    const comma = fields === "{" ? "" : ",";
    const opening = dialect.encodeOpening(request).map((message) => `${toJsonText(message)},`);
    const head = `${fields}${comma}"messages":[${opening.join("")}`;
    return [encodeUtf8(head), ...prefix.chunks, encodeUtf8(`,${tail}]}`)];
  };
}

/** The encoding of the first messages of a conversation. */
class EncodedPrefix {
  readonly #dialect: ModelDialect;
  readonly #source: ModelMessage[] = [];
  readonly #ids: ToolCallIdAllocator;
  #end: PartEnd | null = null;
  readonly #chunks: Uint8Array[] = [];

  constructor(dialect: ModelDialect) {
    this.#dialect = dialect;
    this.#ids = new ToolCallIdAllocator(dialect.shapeId);
  }

  /** Compares by identity: every change of the history creates new objects. */
  matches(messages: readonly ModelMessage[], stableCount: number): boolean {
    const source = this.#source;
    if (source.length > stableCount) return false;
    for (let index = 0; index < source.length; index++)
      if (source[index] !== messages[index]) return false;
    return true;
  }

  /**
   * Appends new stable messages to the prefix, and returns the encoding of the remaining messages. Undefined if the two
   * parts cannot be encoded separately; the prefix must not be used then.
   */
  advance(messages: readonly ModelMessage[], stableCount: number): string | undefined {
    const { isSupported } = this.#dialect;
    const added = messages.slice(this.#source.length, stableCount);
    const tail = alternateMessages(messages.slice(stableCount), isSupported);
    if (added.length > 0) {
      const stable = alternateMessages(added, isSupported);
      if (this.#end !== null && !canSplitBetween(this.#end, toPartStart(stable))) return undefined;
      this.#append(this.#encoded(this.#ids.apply(stable.groups)));
      for (const message of added) this.#source.push(message);
      this.#end = toPartEnd(stable);
    }
    if (this.#end === null || !canSplitBetween(this.#end, toPartStart(tail))) return undefined;
    return this.#encoded(this.#ids.fork().apply(tail.groups));
  }

  /** The encoded messages. The bytes of a chunk never change, because a request may still be sending them. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  #encoded(messages: readonly ModelMessage[]): string {
    return messages.flatMap(this.#dialect.encodeMessage).map(toJsonText).join(",");
  }

  #append(text: string): void {
    const added = encodeUtf8(this.#chunks.length === 0 ? text : `,${text}`);
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length >= CHUNK_BYTES) return void this.#chunks.push(added);
    const joined = new Uint8Array(last.length + added.length);
    joined.set(last);
    joined.set(added, last.length);
    this.#chunks[this.#chunks.length - 1] = joined;
  }
}

/** Smaller chunks are merged, so a long history is not sent in thousands of pieces. */
const CHUNK_BYTES = 64 * 1024;

function encodeUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function toPartStart({ first, groups }: Alternation): PartStart {
  return { first, firstRole: groups[0]?.role };
}

function toPartEnd({ last, groups }: Alternation): PartEnd {
  return { last, lastRole: groups.at(-1)?.role };
}
