import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createToolCall, type ToolResult } from "../../domain/tools/tool-call.ts";
import { buildTurn } from "../../domain/provider/turn.ts";
import { encodeResponse } from "./response-encoder.ts";
import type { ResponseItem } from "./items/response-item.ts";
import { runs } from "../../../test/support/test-depth.ts";

describe("Random turns", () => {
  it("Items have unique ids and are valid by the published schema [SD-34]", () => {
    fc.assert(
      fc.property(turn(), ({ events }) => {
        const { items } = encodeResponse(events, { scope: "t" });
        expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
        expect(publishedItems.safeParse(items).error).toBeUndefined();
      }),
      { numRuns: runs(2000) },
    );
  });

  it("Every open tool call has exactly one function call and no output [SD-34]", () => {
    fc.assert(
      fc.property(turn(), ({ events, openCalls }) => {
        const { items } = encodeResponse(events, { scope: "t" });
        for (const id of openCalls)
          expect(items.filter((item) => "call_id" in item && item.call_id === id)).toEqual([
            expect.objectContaining({ type: "function_call" }),
          ]);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("Texts and results are complete, in the order of their start [SD-19]", () => {
    fc.assert(
      fc.property(turn(), ({ events, texts, results }) => {
        const { items, anomalies } = encodeResponse(events, { scope: "t" });
        expect(items.flatMap(textsOf)).toEqual(texts);
        const outputCount = items.filter(({ type }) => type === "function_call_output").length;
        const reported = anomalies.filter(({ code }) => code === "result_superseded").length;
        expect(outputCount + reported).toBe(results);
      }),
      { numRuns: runs(2000) },
    );
  });
});

function textsOf(item: ResponseItem): string[] {
  return item.type === "message" ? item.content.map(({ text }) => text) : [];
}

const status = z.enum(["in_progress", "completed", "incomplete"]);
const inputText = z.object({ type: z.literal("input_text"), text: z.string() });
const outputText = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.never()),
});
const publishedItems = z.array(
  z.discriminatedUnion("type", [
    z.object({
      type: z.literal("message"),
      id: z.string(),
      status,
      role: z.enum(["user", "assistant", "system", "developer"]),
      content: z.array(z.discriminatedUnion("type", [inputText, outputText])).min(1),
      phase: z.enum(["commentary", "final_answer"]).optional(),
    }),
    z.object({
      type: z.literal("function_call"),
      id: z.string(),
      call_id: z.string(),
      name: z.string(),
      arguments: z.string(),
      status,
    }),
    z.object({
      type: z.literal("function_call_output"),
      id: z.string(),
      call_id: z.string(),
      output: z.union([z.string(), z.array(inputText)]),
      status,
    }),
    z.object({
      type: z.literal("reasoning"),
      id: z.string(),
      summary: z.array(z.object({ type: z.literal("summary_text"), text: z.string() })),
      content: z
        .array(z.object({ type: z.literal("reasoning_text"), text: z.string() }))
        .optional(),
      encrypted_content: z.string().optional(),
    }),
  ]),
);

const callId = fc.constantFrom("a", "b", "c", "d");
const words = fc.string({ maxLength: 6 });
const call = fc.record({
  id: callId,
  name: words,
  inputText: fc.oneof(words, fc.constant('{"q":1}')),
  runBy: fc.constantFrom("client", "server"),
});
const part = fc.oneof(
  fc.record({ type: fc.constant("text"), text: words }),
  fc.record({ type: fc.constant("json"), value: fc.constantFrom(null, 1, [], { a: 1 }) }),
  fc.record({ type: fc.constant("unknown"), raw: fc.jsonValue() }),
);
const parts = fc.array(part, { maxLength: 3 });

const spoken = fc.oneof(
  fc.record({ kind: fc.constant("text"), words }),
  fc.record({ kind: fc.constant("reasoning"), words }),
);
const assistantBlock = fc.oneof(spoken, fc.record({ kind: fc.constant("call"), call }));
const userBlock = fc.oneof(
  spoken,
  fc.record({ kind: fc.constant("result"), callId, parts, isError: fc.boolean() }),
);
type ValueOf<Source> = Source extends fc.Arbitrary<infer Value> ? Value : never;
type BlockPlan = ValueOf<typeof assistantBlock> | ValueOf<typeof userBlock>;
type MessagePlan = ValueOf<ReturnType<typeof planned>>;

function planned(role: "assistant" | "user", block: fc.Arbitrary<BlockPlan>) {
  const blocks = fc.array(fc.record({ plan: block, endsAt: fc.nat() }), { maxLength: 4 });
  return fc.record({ role: fc.constant(role), blocks, replaced: fc.option(words, { freq: 4 }) });
}

/** Turns as emitted by a fold: blocks of a message start in order, run in parallel, and end in any order. */
function turn(): fc.Arbitrary<ToldTurn> {
  const message = fc.oneof(planned("assistant", assistantBlock), planned("user", userBlock));
  return fc.tuple(fc.array(message, { maxLength: 6 }), fc.boolean()).map(tell);
}

interface ToldTurn {
  readonly events: readonly ProviderEvent[];
  readonly openCalls: readonly string[];
  readonly texts: readonly string[];
  readonly results: number;
}

function tell([messages, hasDeltas]: [MessagePlan[], boolean]): ToldTurn {
  const events: ProviderEvent[] = [];
  let block = 0;
  for (const [message, { role, blocks, replaced }] of messages.entries()) {
    const numbered = blocks.map(({ plan, endsAt }) => {
      const at = { message, block: block++ };
      return { opening: opening(plan, at), ending: ending(plan, at), endsAt };
    });
    events.push({ type: "message.start", message, role });
    events.push(...numbered.flatMap((block) => block.opening).filter(isKept));
    events.push(...numbered.toSorted(byEnd).map((block) => block.ending));
    events.push({ type: "message.end", message, reason: "end_turn" });
    if (replaced !== null) events.push({ type: "message.replaced", message, text: replaced });
  }
  const openToolCallIds = buildTurn(events).toolCalls.map(({ id }) => id);
  const outcome = openToolCallIds.length > 0 ? "action-required" : "completed";
  events.push({ type: "end", outcome, reason: "end_turn", openToolCallIds, usage: null });
  return {
    events,
    openCalls: openToolCallIds,
    texts: messages.flatMap(textsPlanned),
    results: resultsIn(messages),
  };

  function isKept({ type }: ProviderEvent): boolean {
    return hasDeltas || !type.endsWith(".delta");
  }
}

function byEnd(left: { readonly endsAt: number }, right: { readonly endsAt: number }): number {
  return left.endsAt - right.endsAt;
}

function textsPlanned({ blocks, replaced }: MessagePlan): string[] {
  const plannedTexts = blocks.map(({ plan }) => (plan.kind === "text" ? plan.words : ""));
  return (replaced === null ? plannedTexts : [replaced]).filter((piece) => piece !== "");
}

function resultsIn(messages: readonly MessagePlan[]): number {
  return messages.flatMap(({ blocks }) => blocks).filter(({ plan }) => plan.kind === "result")
    .length;
}

interface At {
  readonly message: number;
  readonly block: number;
}

function opening(plan: BlockPlan, at: At): ProviderEvent[] {
  if (plan.kind === "text") return [{ type: "text.delta", ...at, text: plan.words }];
  if (plan.kind === "reasoning") return [{ type: "reasoning.delta", ...at, text: plan.words }];
  if (plan.kind === "result") return [];
  const { id, name, inputText: text } = plan.call;
  return [
    { type: "tool.start", ...at, toolCallId: id, name },
    { type: "tool.delta", ...at, toolCallId: id, text },
  ];
}

function ending(plan: BlockPlan, at: At): ProviderEvent {
  if (plan.kind === "text") return { type: "text.end", ...at, text: plan.words };
  if (plan.kind === "reasoning") return { type: "reasoning.end", ...at, text: plan.words };
  if (plan.kind === "call") return { type: "tool.end", ...at, toolCall: createToolCall(plan.call) };
  const { callId: id, parts, isError } = plan;
  const result: ToolResult = { toolCallId: id, parts, isError };
  return { type: "tool.result", ...at, result };
}
