/** Kinds of items with the fronts of their ids. */
export const ITEM_PREFIXES = {
  function_call: "fc",
  function_call_output: "fco",
  message: "msg",
  reasoning: "rs",
  mcp_call: "mcp",
  "spanline:tool_call": "stc",
} as const;

export type ItemType = keyof typeof ITEM_PREFIXES;

/** The same scope and key always give the same id, and no other scope and key do: a key has no underscore. */
export function formatItemId(type: ItemType, scope: string, key: string): string {
  return `${ITEM_PREFIXES[type]}_${scope}_${key}`;
}
