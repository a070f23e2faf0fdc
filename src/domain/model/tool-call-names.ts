import type { ModelMessage } from "./model-request.ts";

/** A name as every API takes one. In a history a name is only read. */
export function toToolName(name: string): string {
  return toAllowedCharacters(name) || "unnamed";
}

/** An id as every API takes one. */
export function toToolCallId(id: string): string {
  return toAllowedCharacters(id) || "call";
}

const MAX_LENGTH = 64;

function toAllowedCharacters(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_LENGTH);
}

/**
 * The conversation with ids of calls that are the API's kind, and differ. Models make up ids for one answer, so that the
 * next may have the same; a conversation may also come from a model with ids of another kind. An id is only what a result
 * is paired with, and the conversation is sent whole every time: it may be any.
 */
export function makeToolCallIdsDistinct(
  messages: readonly ModelMessage[],
  shape?: (id: string) => string,
): ModelMessage[] {
  return new ToolCallIdAllocator(shape).apply(messages);
}

/** Assigns the ids of `withDistinctIds` to a conversation that comes in parts. */
export class ToolCallIdAllocator {
  readonly #shape: (id: string) => string;
  readonly #base: ToolCallIdAllocator | undefined;
  readonly #used = new Set<string>();
  /** The last number that was tried for an id. Lower numbers are in use, since ids are never freed. */
  readonly #tried = new Map<string, number>();
  readonly #current = new Map<string, string>();

  constructor(shape: (id: string) => string = (id) => id, base?: ToolCallIdAllocator) {
    this.#shape = shape;
    this.#base = base;
  }

  /** Continues with the ids that are in use here and does not change them. */
  fork(): ToolCallIdAllocator {
    return new ToolCallIdAllocator(this.#shape, this);
  }

  apply(messages: readonly ModelMessage[]): ModelMessage[] {
    return messages.map(({ role, blocks }) => ({
      role,
      blocks: blocks.map((block) => {
        if (block.type === "tool-call")
          return { ...block, toolCall: { ...block.toolCall, id: this.#mint(block.toolCall.id) } };
        if (block.type !== "tool-result") return block;
        const { result } = block;
        const toolCallId = this.#currentOf(result.toolCallId) ?? this.#shape(result.toolCallId);
        return { ...block, result: { ...result, toolCallId } };
      }),
    }));
  }

  #mint(id: string): string {
    const shaped = this.#shape(id);
    let minted = shaped;
    let count = this.#triedOf(shaped) ?? 1;
    while (this.#isUsed(minted)) {
      const end = `-${++count}`;
      minted = shaped.slice(0, MAX_LENGTH - end.length) + end;
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
    const localValue = this.#tried.get(id);
    return localValue === undefined && this.#base !== undefined
      ? this.#base.#triedOf(id)
      : localValue;
  }

  #currentOf(id: string): string | undefined {
    const localValue = this.#current.get(id);
    return localValue === undefined && this.#base !== undefined
      ? this.#base.#currentOf(id)
      : localValue;
  }
}
