import * as fc from "fast-check";
import type { ModelBlock, ModelMessage } from "../../../src/domain/model/model-request.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../src/domain/tools/tool-call.ts";

/** Any block. Few ids are used, so results match tool calls and ids are repeated. */
const anyModelBlock: fc.Arbitrary<ModelBlock> = fc.oneof(
  fc
    .constantFrom("", " ", "So it is.", "Ein Wort: \u00e4\ud800")
    .map((text) => ({ type: "text", text }) as const),
  fc.constantFrom(
    { type: "reasoning", text: "Hm" } as const,
    { type: "reasoning", text: "Hm", signature: "s" } as const,
    { type: "reasoning", text: "", redacted: "cmVk" } as const,
  ),
  fc.constant({ type: "image", mediaType: "image/png", base64: "aW1n" } as const),
  fc
    .record({
      id: fc.constantFrom("a", "b", "a.b:1", ""),
      name: fc.constantFrom("look", "files.read", ""),
      inputText: fc.constantFrom("", "{}", "[]", "{"),
      runBy: fc.constantFrom("client", "server"),
    })
    .map((facts) => ({ type: "tool-call", toolCall: createToolCall(facts) }) as const),
  fc
    .record({ id: fc.constantFrom("a", "b", "a.b:1", "z"), isError: fc.boolean() })
    .map(({ id, isError }) => ({
      type: "tool-result" as const,
      result: isError ? createToolError(id, "no") : createToolSuccess(id, "yes"),
    })),
);

const anyModelMessages: fc.Arbitrary<readonly ModelMessage[]> = fc.array(
  fc.record({
    role: fc.constantFrom("user", "assistant"),
    blocks: fc.array(anyModelBlock, { maxLength: 4 }),
  }),
  { maxLength: 6 },
);

/** A request within a conversation. */
export interface HistoryStep {
  /** Messages that are stable from now on. */
  readonly added: readonly ModelMessage[];
  /** Messages of this request only. */
  readonly tail: readonly ModelMessage[];
  /** Drops the stable messages from this index on first, like a fork or an import. Null: none. */
  readonly cutAt: number | null;
}

export const anyHistorySteps: fc.Arbitrary<readonly HistoryStep[]> = fc.array(
  fc.record({
    added: fc.oneof(
      { weight: 3, arbitrary: finishedTurn() },
      { weight: 2, arbitrary: anyModelMessages },
    ),
    tail: fc.oneof(
      { weight: 3, arbitrary: fc.constant([createUserMessage("And?")]) },
      { weight: 2, arbitrary: anyModelMessages },
    ),
    cutAt: fc.option(fc.nat(12), { freq: 8 }),
  }),
  { minLength: 1, maxLength: 8 },
);

/** A prompt, an optional tool call, and a response. */
function finishedTurn(): fc.Arbitrary<readonly ModelMessage[]> {
  return fc
    .record({ id: fc.constantFrom("a", "b"), hasTool: fc.boolean(), isAnswered: fc.boolean() })
    .map(({ id, hasTool, isAnswered }) => [
      createUserMessage("Look."),
      ...(hasTool
        ? [
            {
              role: "assistant",
              blocks: [
                {
                  type: "tool-call",
                  toolCall: createToolCall({ id, name: "look", inputText: "{}", runBy: "client" }),
                },
              ],
            } as const,
          ]
        : []),
      ...(hasTool && isAnswered
        ? [
            {
              role: "user",
              blocks: [{ type: "tool-result", result: createToolSuccess(id, "yes") }],
            } as const,
          ]
        : []),
      { role: "assistant", blocks: [{ type: "text", text: "Done." }] },
    ]);
}

function createUserMessage(text: string): ModelMessage {
  return { role: "user", blocks: [{ type: "text", text }] };
}

/** The messages of each step, and the number of stable messages. */
export function* generateRequests(
  steps: readonly HistoryStep[],
): Generator<{ readonly messages: readonly ModelMessage[]; readonly stableCount: number }> {
  let stable: readonly ModelMessage[] = [];
  for (const { added, tail, cutAt } of steps) {
    // Each message is a new object, like in a session.
    const fresh = added.map((message) => structuredClone(message));
    stable = [...(cutAt === null ? stable : stable.slice(0, cutAt)), ...fresh];
    yield { messages: [...stable, ...structuredClone(tail)], stableCount: stable.length };
  }
}
