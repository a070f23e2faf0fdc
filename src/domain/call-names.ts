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
  shape: (id: string) => string = (id) => id,
): ModelMessage[] {
  const used = new Set<string>();
  const current = new Map<string, string>();
  const mint = (id: string): string => {
    const shaped = shape(id);
    let minted = shaped;
    for (let count = 2; used.has(minted); count++) {
      const end = `-${count}`;
      minted = shaped.slice(0, LONGEST - end.length) + end;
    }
    used.add(minted);
    current.set(id, minted);
    return minted;
  };
  return messages.map(({ role, blocks }) => ({
    role,
    blocks: blocks.map((block) => {
      if (block.type === "call")
        return { ...block, call: { ...block.call, id: mint(block.call.id) } };
      if (block.type !== "result") return block;
      const { result } = block;
      const callId = current.get(result.callId) ?? shape(result.callId);
      return { ...block, result: { ...result, callId } };
    }),
  }));
}
