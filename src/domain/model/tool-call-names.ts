import type { ModelMessage } from "./model-request.ts";

/**
 * Converts a tool name to the characters and length accepted by every model API. Names in a history are display-only.
 */
export function toToolName(name: string): string {
  return toAllowedCharacters(name) || "unnamed";
}

/** Converts a tool call id to the characters and length accepted by every model API. */
export function toToolCallId(id: string): string {
  return toAllowedCharacters(id) || "call";
}

const MAX_LENGTH = 64;

function toAllowedCharacters(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, MAX_LENGTH);
}

/**
 * Makes the tool call ids of a conversation valid for the API and distinct. Models may reuse an id in a later message,
 * and a conversation may come from a model with other id formats. An id only pairs a call with its result and the whole
 * conversation is sent every time, so any distinct id works.
 */
export function makeToolCallIdsDistinct(
  messages: readonly ModelMessage[],
  shape?: (id: string) => string,
): ModelMessage[] {
  return new ToolCallIdAllocator(shape).apply(messages);
}

/** Assigns the ids of `makeToolCallIdsDistinct` to a conversation processed in parts. */
export class ToolCallIdAllocator {
  readonly #shape: (id: string) => string;
  readonly #base: ToolCallIdAllocator | undefined;
  readonly #used = new Set<string>();
  /** Highest number tried per id. Lower numbers are in use, since ids are never freed. */
  readonly #tried = new Map<string, number>();
  readonly #current = new Map<string, string>();

  constructor(shape: (id: string) => string = (id) => id, base?: ToolCallIdAllocator) {
    this.#shape = shape;
    this.#base = base;
  }

  /** Returns an allocator which continues after the ids in use here, and does not change this one. */
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
