import * as fc from "fast-check";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { ToolEnding } from "../../src/domain/events/tool-events.ts";
import type { TurnFinished } from "../../src/domain/events/turn-events.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../src/domain/tools/tool-call.ts";

export const SESSION = "ses_0123456789abcdef0123456789abcdef";

/** Wraps events in envelopes with consecutive places in the log, starting at `from`. */
export function logOf(events: readonly SessionEvent[], from = 7): Envelope[] {
  return events.map((event, index) => ({
    sessionId: SESSION,
    seq: from + index,
    at: 1_750_000_000_000 + index * 250,
    turnId: "turn_1",
    visibility: "public",
    event,
  }));
}

export function began(): SessionEvent[] {
  return [
    { type: "prompt.accepted", promptId: "p", content: [{ type: "text", text: "hi" }] },
    { type: "turn.started", turnId: "turn_1", promptId: "p" },
  ];
}

export function ended(over: Partial<TurnFinished> = {}): TurnFinished {
  const plain = { outcome: "completed", reason: "end_turn", usage: null, steps: 1 } as const;
  return { type: "turn.finished", turnId: "turn_1", ...plain, ...over };
}

const USAGE = {
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  totalTokens: 99,
};

const ENDINGS: readonly ToolEnding[] = [
  ...(["succeeded", "failed", "denied", "cancelled"] as const),
  ...(["timed-out", "refused", "unknown", "server"] as const),
];

const anyText = fc.constantFrom("", "a", "So it is.", "line\n", "🚀", '{"a":1}', "{}", "[", " ");
const anyMessageId = fc.constantFrom("m0", "m1", "m2");
const anyBlock = fc.integer({ min: 0, max: 3 });
const anyToolCallId = fc.constantFrom("t0", "t1", "t2", "__proto__");
const anyName = fc.constantFrom("read", "weather", "fs/read", "x".repeat(90));
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
const cut = fc.constantFrom({}, {}, {}, { interrupted: true as const });
const at = { messageId: anyMessageId, block: anyBlock };

/** Arbitrary events with few distinct ids, so that ids collide. Includes sequences which a real session never emits. */
const anyEvent: fc.Arbitrary<SessionEvent> = fc.oneof(
  fc.record({
    type: fc.constant("message.started"),
    messageId: anyMessageId,
    role: fc.constantFrom("assistant", "assistant", "user", "other"),
  }),
  fc
    .record({ messageId: anyMessageId, reason: fc.constantFrom(null, "end_turn", "max_tokens") })
    .chain((finished) =>
      cut.map((how) => ({ type: "message.finished" as const, ...finished, ...how })),
    ),
  fc.record({ type: fc.constant("message.replaced"), messageId: anyMessageId, text: anyText }),
  fc.record({ type: fc.constantFrom("text.delta", "thought.delta"), ...at, text: anyText }),
  fc
    .record({ type: fc.constantFrom("text.finished", "thought.finished"), ...at, text: anyText })
    .chain((finished) => cut.map((how) => ({ ...finished, ...how }))),
  fc
    .record({ ...at, text: anyText, redacted: fc.string() })
    .map((thought) => ({ type: "thought.finished" as const, ...thought })),
  fc.record({
    ...at,
    type: fc.constant("tool_call.opened"),
    toolCallId: anyToolCallId,
    name: anyName,
  }),
  fc.record({
    type: fc.constant("tool_call.input.delta"),
    toolCallId: anyToolCallId,
    text: anyText,
  }),
  fc
    .record({ ...at, toolCallId: anyToolCallId, name: anyName, inputText: anyText })
    .map(({ name, inputText, ...place }) => ({
      type: "tool_call.received" as const,
      ...place,
      toolCall: createToolCall({ id: "c", name, inputText, runBy: "client" }),
    })),
  fc
    .record({ toolCallId: anyToolCallId, ending: fc.constantFrom(...ENDINGS), text: anyText })
    .map(({ text, ...finished }) => ({
      type: "tool.finished" as const,
      ...finished,
      result:
        finished.ending === "succeeded"
          ? createToolSuccess("c", { text })
          : createToolError("c", text),
    })),
  fc.constant<SessionEvent>({ type: "usage.reported", usage: USAGE }),
  fc.constant<SessionEvent>({ type: "hook.fired", name: "h", stage: "before" }),
);

const anyEnd: fc.Arbitrary<SessionEvent | undefined> = maybe(
  fc.oneof(
    fc
      .record({
        outcome: fc.constantFrom("completed", "cancelled", "limited", "failed"),
        reason: fc.constantFrom(null, "end_turn", "max_tokens", "max_steps"),
        usage: fc.constantFrom(null, USAGE),
      })
      .map((over) => ended(over)),
    fc
      .subarray(["t0", "t1", "t2"])
      .map((toolCallIds) => ({ type: "turn.paused" as const, turnId: "turn_1", toolCallIds })),
  ),
);

/** A turn with its events in arbitrary order, with or without an end. */
export const anyDisorder: fc.Arbitrary<Envelope[]> = fc
  .record({ events: fc.array(anyEvent, { maxLength: 30 }), end: anyEnd })
  .map(({ events, end }) => logOf([...began(), ...events, ...(end === undefined ? [] : [end])]));

type PlannedBlock =
  | {
      readonly kind: "text" | "thought";
      readonly pieces: readonly string[];
      readonly isKept: boolean;
    }
  | { readonly kind: "call"; readonly pieces: readonly string[]; readonly ending: ToolEnding };

const anySaid: fc.Arbitrary<PlannedBlock> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("text", "text", "thought"),
    pieces: fc.array(fc.string({ minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
    isKept: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("call"),
    pieces: fc.constantFrom([], ["{}"], ['{"a"', ":1}"]),
    ending: fc.constantFrom(...ENDINGS),
  }),
);

/** A well-formed turn: messages made of blocks, and tool calls followed by their results. */
export const anyTurn: fc.Arbitrary<Envelope[]> = fc
  .array(fc.array(anySaid, { maxLength: 4 }), { maxLength: 4 })
  .map((messages) => logOf([...began(), ...messages.flatMap(messageEvents), ended()]));

function messageEvents(blocks: readonly PlannedBlock[], number: number): SessionEvent[] {
  const messageId = `m${number}`;
  const results: SessionEvent[] = [];
  const events = blocks.flatMap((plannedBlock, block): SessionEvent[] => {
    const place = { messageId, block };
    const text = plannedBlock.pieces.join("");
    if (plannedBlock.kind !== "call") {
      const deltas = plannedBlock.isKept ? plannedBlock.pieces : [];
      return [
        ...deltas.map((piece) => ({
          type: `${plannedBlock.kind}.delta` as const,
          ...place,
          text: piece,
        })),
        { type: `${plannedBlock.kind}.finished`, ...place, text },
      ];
    }
    const toolCallId = `tool_${number}_${block}`;
    const result =
      plannedBlock.ending === "succeeded" ? createToolSuccess("c", 1) : createToolError("c", "no");
    results.push({ type: "tool.finished", toolCallId, ending: plannedBlock.ending, result });
    const call = createToolCall({ id: "c", name: "read", inputText: text, runBy: "client" });
    return [
      { type: "tool_call.opened", toolCallId, ...place, name: "read" },
      ...plannedBlock.pieces.map((piece) => ({
        type: "tool_call.input.delta" as const,
        toolCallId,
        text: piece,
      })),
      { type: "tool_call.received", toolCallId, ...place, toolCall: call },
    ];
  });
  return [
    { type: "message.started", messageId, role: "assistant" },
    ...events,
    { type: "message.finished", messageId, reason: "end_turn" },
    ...results,
  ];
}
