import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyHistorySteps, generateRequests } from "../../../test/support/session/any-history.ts";
import type { ModelMessage } from "./model-request.ts";
import { createHistoryNormalizer } from "./history-normalizer.ts";
import { normalizeHistory } from "./normalize-history.ts";
import { createToolCall, createToolSuccess } from "../tools/tool-call.ts";
import { runs } from "../../../test/support/test-depth.ts";

function text(role: ModelMessage["role"], words: string): ModelMessage {
  return { role, blocks: [{ type: "text", text: words }] };
}

function turns(count: number): ModelMessage[] {
  return Array.from({ length: count }, (_, turn) => [
    text("user", `Question ${turn}`),
    text("assistant", `Response ${turn}`),
  ]).flat();
}

/** A conversation without content is rejected. */
function attempt<Value>(settle: () => Value): { readonly value?: Value; readonly error?: unknown } {
  try {
    return { value: settle() };
  } catch (error) {
    return { error };
  }
}

describe("createHistoryNormalizer", () => {
  it("A cached history equals the one normalized from scratch, after any addition, cut or replacement", () => {
    let requests = 0;
    let cached = 0;
    fc.assert(
      fc.property(anyHistorySteps, (steps) => {
        const settle = createHistoryNormalizer();
        for (const { messages, stableCount } of generateRequests(steps)) {
          const settled = attempt(() => settle(messages, stableCount));
          const { value, error } = attempt(() => normalizeHistory(messages));
          expect([settled.value?.messages, settled.error]).toEqual([value, error]);
          const blocks = settled.value?.messages.flatMap((message) => message.blocks) ?? [];
          const names = blocks.flatMap((block) =>
            block.type === "tool-call" ? block.toolCall.name : [],
          );
          expect(settled.value?.listCalledTools() ?? []).toEqual([...new Set(names)]);
          requests += 1;
          if ((settled.value?.stableCount ?? 0) > 0) cached += 1;
        }
      }),
      { numRuns: runs(1000) },
    );
    // Otherwise the cache was never used.
    expect(cached).toBeGreaterThan(requests / 3);
  });

  it("The messages of finished turns are the same objects in the next request", () => {
    const settle = createHistoryNormalizer();
    const history = turns(3);
    const first = settle([...history, text("user", "One")], history.length);
    const longer = [...history, text("user", "One"), text("assistant", "1")];
    const second = settle([...longer, text("user", "Two")], longer.length);
    expect({ first: first.stableCount, second: second.stableCount }).toEqual({
      first: 6,
      second: 8,
    });
    for (let index = 0; index < 6; index++)
      expect(second.messages[index]).toBe(first.messages[index]);
  });

  it("A history stays cached after a turn that ends with a tool result, and while tools run", () => {
    const settle = createHistoryNormalizer();
    const toolCall = createToolCall({ id: "a", name: "look", inputText: "{}", runBy: "client" });
    const round: ModelMessage[] = [
      text("user", "Look."),
      { role: "assistant", blocks: [{ type: "tool-call", toolCall }] },
      { role: "user", blocks: [{ type: "tool-result", result: createToolSuccess("a", "yes") }] },
    ];
    const history = [...turns(3), ...round];
    const atTurnStart = settle([...history, text("user", "Next")], history.length);
    const inRound = settle([...turns(3), ...round], 7);
    expect([atTurnStart.stableCount, inRound.stableCount]).toEqual([7, 7]);
  });

  it("A result that arrives after its turn is placed after its call, as without a cache", () => {
    const settle = createHistoryNormalizer();
    const call = createToolCall({ id: "late", name: "look", inputText: "{}", runBy: "client" });
    const lost: ModelMessage[] = [
      ...turns(1),
      text("user", "Look."),
      {
        role: "assistant",
        blocks: [
          { type: "tool-call", toolCall: call },
          { type: "text", text: "Wait." },
        ],
      },
    ];
    settle([...lost, text("user", "And?")], lost.length);
    const late: ModelMessage = {
      role: "user",
      blocks: [{ type: "tool-result", result: createToolSuccess("late", "found") }],
    };
    const whole = [...lost, text("user", "And?"), text("assistant", "Hm"), late];
    expect(settle([...whole, text("user", "So?")], whole.length).messages).toEqual(
      normalizeHistory([...whole, text("user", "So?")]),
    );
  });
});
