const PREFIX = {
  function_call: "fc",
  function_call_output: "fco",
  message: "msg",
  reasoning: "rs",
} as const;

/** The same scope and key always give the same id, and no other scope and key do: a key has no underscore. */
export function itemId(type: keyof typeof PREFIX, scope: string, key: string): string {
  return `${PREFIX[type]}_${scope}_${key}`;
}
