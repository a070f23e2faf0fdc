/** Item types and the prefixes of their ids. */
export const ITEM_PREFIXES = {
  function_call: "fc",
  function_call_output: "fco",
  message: "msg",
  reasoning: "rs",
  mcp_call: "mcp",
  "spanline:tool_call": "stc",
} as const;

export type ItemType = keyof typeof ITEM_PREFIXES;

/** Derives the id from scope and key. Ids are unique per scope and key, because a key has no underscore. */
export function formatItemId(type: ItemType, scope: string, key: string): string {
  return `${ITEM_PREFIXES[type]}_${scope}_${key}`;
}
