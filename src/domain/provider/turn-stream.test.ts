import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../events/session-event.ts";
import type { TurnOutcome } from "../events/turn-events.ts";
import { runCodec } from "../codec.ts";
import type { ProviderEvent } from "./provider-event.ts";
import { createToolCall, type ToolResult } from "../tools/tool-call.ts";
import { buildTurn } from "./turn.ts";
import { createTurnStream } from "./turn-stream.ts";

/** A block of a message, as a session may have logged it. */
type Block =
  | { readonly kind: "text" | "thought"; readonly pieces: readonly string[]; readonly cut: boolean }
  | {
      readonly kind: "call";
      readonly runBy: "client" | "server";
      readonly isAnnounced: boolean;
      /** False if the stream was cut before the arguments were complete. */
      readonly isCalled: boolean;
      readonly pieces: readonly string[];
      readonly output: string;
      readonly isError: boolean;
    };

interface Message {
  readonly role: "assistant" | "user" | "other";
  readonly blocks: readonly Block[];
}

interface Turn {
  /** The output of each invocation. */
  readonly calls: readonly (readonly Message[])[];
  readonly outcome: TurnOutcome;
  readonly hasDeltas: boolean;
}

const pieces = fc.array(fc.string({ maxLength: 6 }), { maxLength: 4 });
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ kind: fc.constantFrom("text", "thought"), pieces, cut: fc.boolean() }),
  fc.record({
    kind: fc.constant("call"),
    runBy: fc.constantFrom("client", "server"),
    isAnnounced: fc.boolean(),
    isCalled: fc.boolean(),
    pieces: fc.constantFrom([], ['{"a"', ":1}"], ["{"]),
    output: fc.string(),
    isError: fc.boolean(),
  }),
);
const message: fc.Arbitrary<Message> = fc.record({
  role: fc.constantFrom("assistant", "user", "other"),
  blocks: fc.array(block, { maxLength: 4 }),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  calls: fc.array(fc.array(message, { maxLength: 3 }), { maxLength: 3 }),
  outcome: fc.constantFrom("completed", "limited", "failed", "cancelled"),
  hasDeltas: fc.boolean(),
});

interface Logged {
  readonly events: readonly SessionEvent[];
  readonly text: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: unknown;
  }[];
  readonly results: readonly ToolResult[];
}

/** Events which a session logs for a turn, and the content a reader must find. */
function logged({ calls, outcome, hasDeltas }: Turn): Logged {
  const events: SessionEvent[] = [{ type: "turn.started", turnId: "turn_1", promptId: "prompt_1" }];
  const found = { text: "", calls: [] as Logged["calls"][number][], results: [] as ToolResult[] };
  for (const [number, messages] of calls.entries()) {
    const invocationId = `call_${number}`;
    events.push({
      type: "invocation.started",
      invocationId,
      upstreamId: "up_1",
      purpose: "prompt",
    });
    const ours: (() => void)[] = [];
    let count = 0;
    for (const [at, { role, blocks }] of messages.entries()) {
      const messageId = `msg_${number}_${at}`;
      const theirs: (() => void)[] = [];
      events.push({ type: "message.started", messageId, role });
      for (const one of blocks) {
        // Blocks are numbered per invocation, not per message.
        const place = { messageId, block: count };
        const toolCallId = `tool_${number}_${count}`;
        count += 1;
        if (one.kind !== "call") {
          const type = one.kind;
          const text = one.pieces.join("");
          if (hasDeltas) {
            for (const piece of one.pieces) {
              events.push({ type: `${type}.delta`, ...place, text: piece });
            }
          }
          const cut = one.cut ? ({ interrupted: true } as const) : {};
          events.push({ type: `${type}.finished`, ...place, text, ...cut });
          if (type === "text" && role === "assistant") found.text += text;
          continue;
        }
        const { isAnnounced, isCalled, runBy, output, isError } = one;
        if (!isAnnounced && !isCalled) continue;
        const name = `tool${count}`;
        const inputText = one.pieces.join("");
        if (isAnnounced) {
          events.push({ type: "tool_call.opened", toolCallId, ...place, name });
          if (hasDeltas) {
            for (const text of one.pieces) {
              events.push({ type: "tool_call.input.delta", toolCallId, text });
            }
          }
        }
        const call = createToolCall({ id: "theirs", name, inputText, runBy });
        if (isCalled)
          events.push({ type: "tool_call.received", toolCallId, ...place, toolCall: call });
        found.calls.push({ id: toolCallId, name, input: isCalled ? call.input : null });
        const parts = [{ type: "text", text: output }] as const;
        const result: ToolResult = { toolCallId: "theirs", parts, isError };
        (runBy === "server" ? theirs : ours).push(() => {
          const ending = runBy === "server" ? "server" : "succeeded";
          events.push({ type: "tool.finished", toolCallId, ending, result });
          found.results.push({ ...result, toolCallId });
        });
      }
      for (const finish of theirs) finish();
      events.push({ type: "message.finished", messageId, reason: null });
    }
    for (const finish of ours) finish();
  }
  const how = { outcome, reason: "why", usage: null, steps: calls.length } as const;
  events.push({ type: "turn.finished", turnId: "turn_1", ...how });
  return { events, ...found };
}

describe("createTurnStream", () => {
  it("The stream has the text, calls and results of the turn, and exactly one end", () => {
    fc.assert(
      fc.property(turn, (input) => {
        const { events, text, calls, results } = logged(input);
        const stream = runCodec(createTurnStream(), events);
        const read = buildTurn(stream);
        const blocks = read.messages.flatMap((one) => one.blocks);
        expect(read.text).toBe(text);
        expect(
          blocks.flatMap((one) =>
            one.type === "tool-call"
              ? [{ id: one.toolCall.id, name: one.toolCall.name, input: one.toolCall.input }]
              : [],
          ),
        ).toEqual(calls);
        expect(blocks.flatMap((one) => (one.type === "tool-result" ? [one.result] : []))).toEqual(
          results,
        );
        expect(stream.flatMap(({ type }, at) => (type === "end" ? [at] : []))).toEqual([
          stream.length - 1,
        ]);
      }),
    );
  });

  it("Every message and block gets one number, each block in an open message", () => {
    fc.assert(
      fc.property(turn, (input) => {
        const open = new Set<number>();
        const begun: number[] = [];
        const ended: number[] = [];
        const misplaced: ProviderEvent[] = [];
        for (const event of runCodec(createTurnStream(), logged(input).events)) {
          if (event.type === "message.start") {
            begun.push(event.message);
            open.add(event.message);
          }
          if (event.type === "message.end") open.delete(event.message);
          if (!("block" in event)) continue;
          if (event.type.endsWith(".end")) ended.push(event.block);
          // The end of a cut call is emitted with its result, which may come after its message.
          const isCut = event.type === "tool.end" && event.toolCall.input === null;
          if (!open.has(event.message) && !isCut) misplaced.push(event);
        }
        expect([new Set(begun).size, new Set(ended).size]).toEqual([begun.length, ended.length]);
        expect([[...open], misplaced]).toEqual([[], []]);
      }),
    );
  });

  it("A log without deltas produces the same turn", () => {
    fc.assert(
      fc.property(turn, (input) => {
        const [whole, dropped] = [true, false].map((hasDeltas) =>
          buildTurn(runCodec(createTurnStream(), logged({ ...input, hasDeltas }).events)),
        );
        expect(dropped).toEqual(whole);
      }),
    );
  });

  it("A cut log ends as an incomplete turn", () => {
    const end = runCodec(createTurnStream(), [
      { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
    ]).at(-1);
    expect(end).toMatchObject({ outcome: "failed", failure: { code: "incomplete_turn" } });
  });

  it("The end carries the turn's outcome, and later events are ignored", () => {
    const usage = {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      totalTokens: 3,
    };
    const finished = { type: "turn.finished", turnId: "turn_1", usage, steps: 1 } as const;
    const stream = runCodec(createTurnStream(), [
      { ...finished, outcome: "cancelled", reason: null },
      { type: "message.started", messageId: "msg_2", role: "assistant" },
      { ...finished, outcome: "completed", reason: "end_turn" },
    ]);
    expect(stream).toEqual([
      { type: "end", outcome: "other", reason: "cancelled", openToolCallIds: [], usage },
    ]);
  });

  it("Text replaced by the agent is withdrawn", () => {
    const place = { messageId: "msg_1", block: 0 };
    const { text } = buildTurn(
      runCodec(createTurnStream(), [
        { type: "message.started", messageId: "msg_1", role: "assistant" },
        { type: "text.delta", ...place, text: "A secret" },
        { type: "message.replaced", messageId: "msg_1", text: "Blocked." },
        { type: "text.finished", ...place, text: "A secret" },
        { type: "message.finished", messageId: "msg_1", reason: null },
      ]),
    );
    expect(text).toBe("Blocked.");
  });
});
