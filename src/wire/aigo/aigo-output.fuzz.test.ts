import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import { encodeResponse } from "../responses/response-encoder.ts";
import { aigoProblems } from "../../../test/aigo/aigo-models.ts";
import { encodeAigoOutput } from "./aigo-output.ts";
import { runs } from "../../../test/support/test-depth.ts";

describe("Events in random order", () => {
  it("Random events are encoded without a throw, with unique ids and no tool call without an id [SD-20]", () => {
    fc.assert(
      fc.property(disorder(), (events) => {
        const { items } = encodeResponse(events, {
          scope: "t",
          output: "parts",
          rawReasoning: true,
        });
        expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
        expect(items.filter((item) => "call_id" in item && item.call_id === "")).toEqual([]);
      }),
      { numRuns: runs(20_000) },
    );
  });

  it("The output has one assistant message at the end, with the session, and AI GO! accepts the output [SD-34]", () => {
    fc.assert(
      fc.property(disorder(), (events) => {
        const output = encodeAigoOutput(events, { scope: "t", sessionId: "s" });
        expect(aigoProblems("ModelOutput", output)).toEqual([]);
        const { items } = output;
        const messages = items.filter((item) => item.type === "message");
        expect(messages).toEqual([expect.objectContaining({ role: "assistant", session_id: "s" })]);
        expect(items.at(-1)).toBe(messages[0]);
      }),
      { numRuns: runs(20_000) },
    );
  });
});

/** Events which no fold would emit: unknown blocks, missing starts, repeated ends, reused numbers. */
function disorder(): fc.Arbitrary<ProviderEvent[]> {
  const event = fc.oneof(messageEvent(), deltaEvent(), blockEnd(), turnEvent());
  return fc.array(event, { maxLength: 24 });
}

const number = fc.integer({ min: -1, max: 6 });
const at = { message: number, block: number };
const text = fc.string({ maxLength: 6 });
const toolCallId = fc.constantFrom("", "a", "b", "__proto__");
const reason = fc.constantFrom(
  null,
  "end_turn",
  "tool_use",
  "max_tokens",
  "malformed_tool_use",
  "?",
);

function messageEvent(): fc.Arbitrary<ProviderEvent> {
  return fc.oneof(
    fc.record({
      type: fc.constant("message.start"),
      message: number,
      role: fc.constantFrom("assistant", "user", "other"),
    }),
    fc.record({ type: fc.constant("message.end"), message: number, reason }),
    fc.record({ type: fc.constant("message.replaced"), message: number, text }),
  );
}

function deltaEvent(): fc.Arbitrary<ProviderEvent> {
  return fc.oneof(
    fc.record({ type: fc.constantFrom("text.delta", "reasoning.delta"), ...at, text }),
    fc.record({ type: fc.constant("tool.start"), ...at, toolCallId, name: text }),
    fc.record({ type: fc.constant("tool.delta"), ...at, toolCallId, text }),
  );
}

function blockEnd(): fc.Arbitrary<ProviderEvent> {
  const part = fc.oneof(
    fc.record({ type: fc.constant("text"), text }),
    fc.record({ type: fc.constant("json"), value: fc.constantFrom(null, 1, "x") }),
    fc.record({ type: fc.constant("unknown"), raw: fc.anything() }),
  );
  const result = fc.record({
    toolCallId,
    parts: fc.array(part, { maxLength: 3 }),
    isError: fc.boolean(),
  });
  const call = fc
    .record({
      id: toolCallId,
      name: text,
      inputText: fc.oneof(text, fc.constant('{"q":1}')),
      runBy: fc.constantFrom("client", "server"),
    })
    .map(createToolCall);
  const end = fc.oneof(
    fc.record({ type: fc.constant("text.end"), ...at, text }),
    fc.record({ type: fc.constant("reasoning.end"), ...at, text, redacted: text }),
    fc.record({ type: fc.constant("tool.end"), ...at, toolCall: call }),
    fc.record({ type: fc.constant("tool.result"), ...at, result }),
  );
  return fc
    .tuple(end, fc.boolean())
    .map(([event, isImplicit]) =>
      isImplicit ? Object.assign(event, { implicitStop: true as const }) : event,
    );
}

function turnEvent(): fc.Arbitrary<ProviderEvent> {
  const usage = fc.constant({
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 1,
    cacheWriteTokens: 1,
    totalTokens: 4,
  });
  return fc.oneof(
    fc.record({ type: fc.constant("usage"), usage }),
    fc.record({
      type: fc.constant("end"),
      outcome: fc.constantFrom("completed", "action-required", "limited", "failed", "other"),
      reason,
      openToolCallIds: fc.array(toolCallId, { maxLength: 3 }),
      usage: fc.option(usage),
    }),
  );
}
