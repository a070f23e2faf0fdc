import { DistinctIds } from "../domain/call-names.ts";
import { jsonText, type JsonObject } from "../domain/json.ts";
import { requestBody, type ModelDialect } from "../domain/model-dialect.ts";
import {
  alternation,
  isClean,
  type Alternation,
  type ModelMessage,
  type ModelRequest,
  type PartEnd,
  type PartStart,
} from "../domain/model-request.ts";

/** Returns the body of a request as JSON in UTF-8, in consecutive parts. */
export type EncodeRequest = (request: ModelRequest) => readonly Uint8Array[];

/**
 * Creates an encoder that caches the encoding of each conversation's stable messages, so that a request costs what its
 * new messages cost. A conversation stays cached for as long as its first message
 * is reachable. `extra` are further members of the body.
 */
export function requestEncoder(dialect: ModelDialect, extra: JsonObject = {}): EncodeRequest {
  const prefixes = new WeakMap<ModelMessage, EncodedPrefix>();
  const whole: EncodeRequest = (request) => [
    utf8(jsonText({ ...requestBody(dialect, request), ...extra })),
  ];
  return (request) => {
    const { messages, stableCount = 0 } = request;
    const [first] = messages;
    if (first === undefined || stableCount === 0 || "messages" in extra) return whole(request);
    const known = prefixes.get(first);
    const prefix = known?.isOf(messages, stableCount) === true ? known : new EncodedPrefix(dialect);
    prefixes.set(first, prefix);
    const tail = prefix.advance(messages, stableCount);
    if (tail === undefined) {
      prefixes.delete(first);
      return whole(request);
    }
    const fields = jsonText({ ...dialect.fields(request), ...extra }).slice(0, -1);
    const comma = fields === "{" ? "" : ",";
    const opening = dialect.opening(request).map((message) => `${jsonText(message)},`);
    const head = `${fields}${comma}"messages":[${opening.join("")}`;
    return [utf8(head), ...prefix.chunks, utf8(`,${tail}]}`)];
  };
}

/** The encoding of the first messages of a conversation. */
class EncodedPrefix {
  readonly #dialect: ModelDialect;
  readonly #source: ModelMessage[] = [];
  readonly #ids: DistinctIds;
  #end: PartEnd | null = null;
  readonly #chunks: Uint8Array[] = [];

  constructor(dialect: ModelDialect) {
    this.#dialect = dialect;
    this.#ids = new DistinctIds(dialect.shapeId);
  }

  /** Compares by identity: anything that changes the history makes other objects. */
  isOf(messages: readonly ModelMessage[], stableCount: number): boolean {
    const source = this.#source;
    if (source.length > stableCount) return false;
    for (let index = 0; index < source.length; index++)
      if (source[index] !== messages[index]) return false;
    return true;
  }

  /**
   * Adds the stable messages that are new, and returns the encoding of those that follow. Undefined if the parts cannot be
   * encoded apart; the prefix must not be used then.
   */
  advance(messages: readonly ModelMessage[], stableCount: number): string | undefined {
    const { isTaken } = this.#dialect;
    const added = messages.slice(this.#source.length, stableCount);
    const tail = alternation(messages.slice(stableCount), isTaken);
    if (added.length > 0) {
      const stable = alternation(added, isTaken);
      if (this.#end !== null && !isClean(this.#end, startOf(stable))) return undefined;
      this.#append(this.#encoded(this.#ids.apply(stable.groups)));
      for (const message of added) this.#source.push(message);
      this.#end = endOf(stable);
    }
    if (this.#end === null || !isClean(this.#end, startOf(tail))) return undefined;
    return this.#encoded(this.#ids.fork().apply(tail.groups));
  }

  /** The encoded messages. The bytes of a chunk never change, so that a request which is being sent stays the same. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  #encoded(messages: readonly ModelMessage[]): string {
    return messages.flatMap(this.#dialect.encode).map(jsonText).join(",");
  }

  #append(text: string): void {
    const added = utf8(this.#chunks.length === 0 ? text : `,${text}`);
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length >= CHUNK_BYTES) return void this.#chunks.push(added);
    const joined = new Uint8Array(last.length + added.length);
    joined.set(last);
    joined.set(added, last.length);
    this.#chunks[this.#chunks.length - 1] = joined;
  }
}

/** Smaller chunks are copied into one, so that a long history is not sent in thousands of pieces. */
const CHUNK_BYTES = 64 * 1024;

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function startOf({ first, groups }: Alternation): PartStart {
  return { first, firstRole: groups[0]?.role };
}

function endOf({ last, groups }: Alternation): PartEnd {
  return { last, lastRole: groups.at(-1)?.role };
}
