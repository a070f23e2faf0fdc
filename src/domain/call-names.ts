import type { ModelMessage } from "./model-request.ts";

/** A name as every API takes one. In a history a name is only read. */
export function plainName(name: string): string {
  return plain(name) || "unnamed";
}

/** An id as every API takes one. */
export function plainId(id: string): string {
  return plain(id) || "call";
}

const LONGEST = 64;

function plain(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, LONGEST);
}

/**
 * The conversation with ids of calls that are the API's kind, and differ. Models make up ids for one answer, so that the
 * next may have the same; a conversation may also come from a model with ids of another kind. An id is only what a result
 * is paired with, and the conversation is sent whole every time: it may be any.
 */
export function withDistinctIds(
  messages: readonly ModelMessage[],
  shape?: (id: string) => string,
): ModelMessage[] {
  return new DistinctIds(shape).apply(messages);
}

/** Assigns the ids of `withDistinctIds` to a conversation that comes in parts. */
export class DistinctIds {
  readonly #shape: (id: string) => string;
  readonly #base: DistinctIds | undefined;
  readonly #used = new Set<string>();
  /** The last number that was tried for an id. Lower numbers are in use, since ids are never freed. */
  readonly #tried = new Map<string, number>();
  readonly #current = new Map<string, string>();

  constructor(shape: (id: string) => string = (id) => id, base?: DistinctIds) {
    this.#shape = shape;
    this.#base = base;
  }

  /** Continues with the ids that are in use here and does not change them. */
  fork(): DistinctIds {
    return new DistinctIds(this.#shape, this);
  }

  apply(messages: readonly ModelMessage[]): ModelMessage[] {
    return messages.map(({ role, blocks }) => ({
      role,
      blocks: blocks.map((block) => {
        if (block.type === "call")
          return { ...block, call: { ...block.call, id: this.#mint(block.call.id) } };
        if (block.type !== "result") return block;
        const { result } = block;
        const callId = this.#currentOf(result.callId) ?? this.#shape(result.callId);
        return { ...block, result: { ...result, callId } };
      }),
    }));
  }

  #mint(id: string): string {
    const shaped = this.#shape(id);
    let minted = shaped;
    let count = this.#triedOf(shaped) ?? 1;
    while (this.#isUsed(minted)) {
      const end = `-${++count}`;
      minted = shaped.slice(0, LONGEST - end.length) + end;
    }
    if (count > 1) this.#tried.set(shaped, count);
    this.#used.add(minted);
    this.#current.set(id, minted);
    return minted;
  }

  #isUsed(id: string): boolean {
    if (this.#used.has(id)) return true;
    return this.#base === undefined ? false : this.#base.#isUsed(id);
  }

  #triedOf(id: string): number | undefined {
    const own = this.#tried.get(id);
    return own === undefined && this.#base !== undefined ? this.#base.#triedOf(id) : own;
  }

  #currentOf(id: string): string | undefined {
    const own = this.#current.get(id);
    return own === undefined && this.#base !== undefined ? this.#base.#currentOf(id) : own;
  }
}
