import * as fc from "fast-check";
import type { Failure } from "../../../src/domain/errors.ts";
import type { Outcome, ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../src/domain/tools/tool-call.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import type { ProviderOutput } from "../../../src/session/session-input.ts";
import { PROMPT_TOOL, TOOL_NAMES } from "./agent-specs.ts";

/** Events of a provider in one batch: a whole turn as a fold emits it, its beginning, or random events. */
export type Saying = readonly ProviderOutput[];

const anyId = fc.constantFrom("c0", "c1", "c2");
const anyToolName = fc.constantFrom(...TOOL_NAMES, "free_unknown", PROMPT_TOOL, PROMPT_TOOL);
const anyInputText = fc.constantFrom("{}", `{"a":1}`, `{"path":"a.txt"}`, `{"a":`, "[]");
const anyUsage: fc.Arbitrary<Usage | null> = fc.constantFrom(null, {
  inputTokens: 30,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 40,
});

type Item =
  | { readonly kind: "text" }
  | { readonly kind: "reasoning" }
  | {
      readonly kind: "client" | "server" | "silent-server";
      readonly id: string;
      readonly name: string;
      readonly inputText: string;
    };

const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.constantFrom<Item>({ kind: "text" }, { kind: "reasoning" }),
  fc.record({
    kind: fc.constantFrom("client", "client", "server", "silent-server"),
    id: anyId,
    name: anyToolName,
    inputText: anyInputText,
  }),
);

/** A turn as emitted by folds: every block closed, open calls listed, ids repeated now and then. */
const plausible: fc.Arbitrary<Saying> = fc
  .record({ items: fc.array(anyItem, { maxLength: 5 }), usage: anyUsage })
  .map(({ items, usage }) => turnOfItems(items, usage));

export function turnOfItems(items: readonly Item[], usage: Usage | null): ProviderOutput[] {
  const events: ProviderOutput[] = [
    { event: { type: "message.start", message: 0, role: "assistant" } },
  ];
  const open = new Set<string>();
  let block = -1;
  for (const item of items) {
    block += 1;
    const at = { message: 0, block };
    if (item.kind === "text") {
      events.push({ event: { type: "text.delta", ...at, text: "So" } });
      events.push({ event: { type: "text.end", ...at, text: "So it is." } });
    } else if (item.kind === "reasoning") {
      events.push({ event: { type: "reasoning.delta", ...at, text: "Hm" } });
      events.push({ event: { type: "reasoning.end", ...at, text: "Hm.", signature: "s" } });
    } else {
      const { id, name, inputText } = item;
      const runBy = item.kind === "client" ? "client" : "server";
      const call = createToolCall({ id, name, inputText, runBy });
      const problem = name === "free_unknown" ? { problem: "It is not an available tool." } : {};
      events.push({ event: { type: "tool.start", ...at, toolCallId: id, name } });
      events.push({ event: { type: "tool.delta", ...at, toolCallId: id, text: inputText } });
      events.push({ event: { type: "tool.end", ...at, toolCall: call }, ...problem });
      open.delete(id);
      if (item.kind === "client") open.add(id);
      if (item.kind === "server") {
        block += 1;
        const result = createToolSuccess(id, "done");
        events.push({ event: { type: "tool.result", message: 0, block, result } });
      }
    }
  }
  const outcome = open.size > 0 ? "action-required" : "completed";
  const reason = open.size > 0 ? "tool_use" : "end_turn";
  const openToolCallIds = [...open];
  events.push({ event: { type: "message.end", message: 0, reason } });
  events.push({ event: { type: "end", outcome, reason, openToolCallIds, usage } });
  return events;
}

const CODES = ["connection_lost", "idle_timeout", "stream_exception", "service_failed"] as const;

export const anyFailure: fc.Arbitrary<Failure> = fc.record({
  code: fc.constantFrom(...CODES, "conflict", "throttled"),
  message: fc.constant("It broke"),
  details: fc.constant({}),
});

const anyOutcome = fc.constantFrom<Outcome>(
  "completed",
  "action-required",
  "limited",
  "failed",
  "other",
);

const anyEnd: fc.Arbitrary<ProviderEvent> = fc
  .record({
    outcome: anyOutcome,
    openToolCallIds: fc.subarray(["c0", "c1", "c2"]),
    usage: anyUsage,
    failure: fc.option(anyFailure, { nil: undefined }),
  })
  .map(({ failure, ...end }) => ({
    type: "end",
    reason: null,
    ...end,
    ...(failure !== undefined && { failure }),
  }));

const at = { message: fc.integer({ min: 0, max: 2 }), block: fc.integer({ min: 0, max: 3 }) };
const text = fc.constantFrom("", "a", "b");

/** Random events within the types, from small ranges, so numbers and ids collide. */
const hostileEvent: fc.Arbitrary<ProviderEvent> = fc.oneof(
  fc.record({
    type: fc.constant("message.start"),
    message: at.message,
    role: fc.constantFrom("assistant", "user", "other"),
  }),
  fc.record({ type: fc.constant("message.end"), message: at.message, reason: fc.constant(null) }),
  fc.record({ type: fc.constant("message.replaced"), message: at.message, text }),
  fc.record({ type: fc.constantFrom("text.delta", "reasoning.delta"), ...at, text }),
  fc.record({ type: fc.constantFrom("text.end", "reasoning.end"), ...at, text }),
  fc.record({ type: fc.constant("tool.start"), ...at, toolCallId: anyId, name: anyToolName }),
  fc.record({ type: fc.constant("tool.delta"), ...at, toolCallId: anyId, text }),
  fc
    .record({
      ...at,
      id: anyId,
      name: anyToolName,
      inputText: anyInputText,
      runBy: fc.constantFrom("client", "server"),
    })
    .map(({ message, block, ...facts }) => ({
      type: "tool.end" as const,
      message,
      block,
      toolCall: createToolCall(facts),
    })),
  fc.record({ ...at, id: anyId, isError: fc.boolean() }).map(({ id, isError, ...place }) => ({
    type: "tool.result" as const,
    ...place,
    result: isError ? createToolError(id, "no") : createToolSuccess(id, { yes: true }),
  })),
  fc.record({
    type: fc.constant("activity"),
    kind: fc.constantFrom("tool-progress", "node"),
    toolCallId: anyId,
  }),
  fc.constant<ProviderEvent>({ type: "hook", id: "h", name: "guard", stage: "before" }),
  fc.constant<ProviderEvent>({ type: "unknown", what: "event", name: "new", raw: { a: 1 } }),
  anyEnd,
);

const hostile: fc.Arbitrary<Saying> = fc.array(
  fc
    .record({ event: hostileEvent, isWrong: fc.boolean() })
    .map(({ event, isWrong }) =>
      event.type === "tool.end" && isWrong
        ? { event, problem: "Its arguments are wrong" }
        : { event },
    ),
  { minLength: 1, maxLength: 12 },
);

const cut: fc.Arbitrary<Saying> = fc
  .tuple(plausible, fc.nat({ max: 8 }))
  .map(([events, length]) => events.slice(0, length));

const withOddEnd: fc.Arbitrary<Saying> = fc
  .tuple(plausible, anyEnd)
  .map(([events, event]) => [...events.slice(0, -1), { event }]);

export const anySaying: fc.Arbitrary<Saying> = fc.oneof(
  { weight: 5, arbitrary: plausible },
  { weight: 2, arbitrary: cut },
  { weight: 1, arbitrary: withOddEnd },
  { weight: 3, arbitrary: hostile },
);

/** Runnable tool calls only. */
export const anyCalls: fc.Arbitrary<Saying> = fc
  .array(
    fc.record({
      kind: fc.constant("client"),
      name: fc.constantFrom(...TOOL_NAMES, PROMPT_TOOL),
      inputText: fc.constantFrom("{}", `{"path":"a.txt"}`),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((calls) => calls.map((call, index) => ({ ...call, id: `c${index}` }) as const))
  .map((items) => turnOfItems(items, null));

/** A complete turn without content. */
export const SILENCE: Saying = turnOfItems([], null);
