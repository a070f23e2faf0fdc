import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowLongTests, runs } from "../../../../test/support/test-depth.ts";
import { createToolCall, createToolSuccess } from "../../../domain/tools/tool-call.ts";
import { COMPACTION_STRATEGIES } from "../../../domain/transcript/compaction.ts";
import type { ConversationBlock, ConversationMessage } from "./conversation.ts";
import { extendPlan, listCuts, planCompaction, replaceArchived } from "./plan-compaction.ts";

allowLongTests();

type Part = Extract<ConversationBlock, { type: "tool-call" | "tool-result" | "text" }>;

interface Round {
  readonly ids: readonly string[];
  readonly reasons: boolean;
  /** The call is never answered. */
  readonly isCancelled: boolean;
}

// Some models number their calls from 1 in every message, so ids repeat.
const round = fc.record({
  ids: fc.uniqueArray(fc.constantFrom("c1", "c2", "c3"), { minLength: 1, maxLength: 3 }),
  reasons: fc.boolean(),
  isCancelled: fc.boolean(),
});
const turn = fc.array(round, { maxLength: 4 });
const ending = fc.constantFrom("idle", "prompt", "results" as const);

function toCall(id: string): Part {
  const fields = { id, name: "look", inputText: "{}", runBy: "client" } as const;
  return { type: "tool-call", toolCall: createToolCall(fields) };
}

function toResult(id: string): Part {
  return { type: "tool-result", result: createToolSuccess(id, "seen") };
}

const TEXT: Part = { type: "text", text: "words" };

function createConversation(turns: readonly (readonly Round[])[], end: string) {
  const messages: ConversationMessage[] = [];
  for (const rounds of turns) {
    messages.push({ role: "user", blocks: [TEXT] });
    for (const { ids, reasons, isCancelled } of rounds) {
      const thought: ConversationBlock = { type: "reasoning", text: "Hm", signature: "s" };
      messages.push({
        role: "assistant",
        blocks: [...(reasons ? [thought] : []), ...ids.map(toCall)],
      });
      if (isCancelled) break;
      messages.push({ role: "user", blocks: ids.map(toResult) });
    }
    if (messages.at(-1)?.role === "user") messages.push({ role: "assistant", blocks: [TEXT] });
  }
  if (end !== "results")
    return { messages, pending: end === "idle" ? [] : [TEXT], openToolCallIds: [] };
  messages.push({ role: "user", blocks: [TEXT] }, { role: "assistant", blocks: [toCall("c9")] });
  return { messages, pending: [toResult("c9")], openToolCallIds: [] };
}

const conversation = fc
  .tuple(fc.array(turn, { maxLength: 8 }), ending)
  .map(([turns, end]) => createConversation(turns, end));

/** The results of a part, each with whether the part has its call. */
function findSeparated(messages: readonly ConversationMessage[]): string[] {
  const open = new Set<string>();
  const separated: string[] = [];
  for (const block of messages.flatMap(({ blocks }) => blocks)) {
    if (block.type === "tool-call") open.add(block.toolCall.id);
    if (block.type !== "tool-result") continue;
    if (!open.delete(block.result.toolCallId)) separated.push(block.result.toolCallId);
  }
  return separated;
}

function hasAnsweredCall(messages: readonly ConversationMessage[], cut: number): boolean {
  const [next] = messages.slice(cut);
  return next?.blocks.some(({ type }) => type === "tool-result") ?? false;
}

describe("Cut points of a conversation", () => {
  it("No cut separates a tool call from its result", () => {
    fc.assert(
      fc.property(conversation, (whole) => {
        const { messages, pending } = whole;
        listCuts(whole).forEach((isCut, cut) => {
          if (!isCut) return;
          const kept = [...messages.slice(cut), { role: "user" as const, blocks: pending }];
          expect(findSeparated(kept)).toEqual([]);
          expect(hasAnsweredCall(messages, cut)).toBe(false);
        });
      }),
      { numRuns: runs(1000) },
    );
  });

  it("Every boundary between two finished turns is a cut", () => {
    fc.assert(
      fc.property(conversation, (whole) => {
        const isCut = listCuts(whole);
        const prompts = whole.messages.flatMap(({ role, blocks }, index) =>
          role === "user" && blocks[0]?.type === "text" ? [index] : [],
        );
        expect(prompts.filter((index) => isCut[index] !== true)).toEqual([]);
      }),
      { numRuns: runs(1000) },
    );
  });

  it("No cut lies inside the reasoning and tool calls which the next request continues", () => {
    fc.assert(
      fc.property(
        conversation,
        fc.array(round, { minLength: 1, maxLength: 5 }),
        (whole, rounds) => {
          const [first] = rounds;
          const running = rounds.map((one) => ({
            ...one,
            isCancelled: false,
            reasons: one === first,
          }));
          const before = createConversation([[]], "idle").messages;
          const { messages: loop } = createConversation([running], "idle");
          // The last message, a text, is replaced by the results which are being sent.
          const results = loop.at(-2)?.blocks ?? [];
          const messages = [...whole.messages, ...before, ...loop.slice(0, -2)];
          const isCut = listCuts({ messages, pending: results, openToolCallIds: [] });
          const suffix = messages.length - (loop.length - 2) + 1;
          expect(isCut.slice(suffix + 1)).not.toContain(true);
          expect(isCut[suffix]).toBe(true);
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});

describe("Plans of a compaction", () => {
  it("A plan archives whole rounds, keeps the requested last messages, and its result alternates between the speakers", () => {
    const strategy = fc.constantFrom(...COMPACTION_STRATEGIES);
    const keep = fc.nat(12);
    fc.assert(
      fc.property(conversation, strategy, keep, fc.nat(200), (whole, name, keepLast, limit) => {
        const plan = planCompaction(whole, { strategy: name, keepLast });
        if (plan === undefined) return;
        const { messages } = whole;
        const kept = messages.length - plan.end;
        expect(kept).toBeGreaterThanOrEqual(name === "summarize_all" ? 0 : keepLast);
        expect(plan.end - plan.keptHead).toBeGreaterThanOrEqual(2);
        const isCut = listCuts(whole);
        const extended = extendPlan(whole, plan, limit);
        expect(extended.end).toBeGreaterThanOrEqual(plan.end);
        for (const { keptHead, end } of [plan, extended]) {
          expect([isCut[keptHead], isCut[end]]).toEqual([true, true]);
          const { messages: after, shift } = replaceArchived(messages, { keptHead, end }, "Note");
          after.forEach(({ role }, index) => expect(role).not.toBe(after[index - 1]?.role));
          messages.slice(end + 1).forEach((message, index) => {
            expect(after[end + 1 + index + shift]).toBe(message);
          });
          const texts = after.flatMap(({ blocks }) => blocks);
          expect(
            texts.filter((block) => block.type === "text" && block.text === "Note"),
          ).toHaveLength(1);
        }
      }),
      { numRuns: runs(1000) },
    );
  });

  it("In 10,000 messages, the cut is before the last round which starts with at least ten messages left", () => {
    const rounds = Array.from({ length: 2500 }, () => [
      { ids: ["c1"], reasons: false, isCancelled: false },
    ]);
    const whole = createConversation(rounds, "idle");
    expect(whole.messages).toHaveLength(10_000);
    expect(planCompaction(whole, { strategy: "hybrid", keepLast: 10 })).toEqual({
      keptHead: 0,
      end: 9989,
    });
  });
});
