/** A turn with a tool, event by event, from the tutorial which describes custom inference for AI GO!. */
export const SEED_TURN: readonly (readonly [name: string, payload: object])[] = [
  ["messageStart", { role: "assistant" }],
  [
    "contentBlockStart",
    {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: "tooluse_01", name: "search_products" } },
    },
  ],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: '{"query": ' } } }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { toolUse: { input: '"shoes"}' } } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason: "tool_use" }],
  ["messageStart", { role: "user" }],
  [
    "contentBlockStart",
    {
      contentBlockIndex: 0,
      start: { toolResult: { toolUseId: "tooluse_01", status: "success" } },
    },
  ],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { toolResult: [{ text: "[]" }] } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason: "end_turn" }],
  ["messageStart", { role: "assistant" }],
  ["contentBlockDelta", { contentBlockIndex: 0, delta: { text: "I couldn't find any shoes..." } }],
  ["contentBlockStop", { contentBlockIndex: 0 }],
  ["messageStop", { stopReason: "end_turn" }],
  ["metadata", { usage: { inputTokens: 201, outputTokens: 22 } }],
];
