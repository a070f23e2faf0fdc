import { describe, expect, it } from "vitest";
import { measureRetainedBytes } from "../../../test/support/memory-usage.ts";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import type { StreamMessage } from "../../domain/provider/stream-message.ts";
import { buildTurn, type Turn } from "../../domain/provider/turn.ts";
import { createConverseFold } from "./fold.ts";
import { readUnionEvent } from "./parse.ts";

const assistant = { messageStart: { role: "assistant" } };
const user = { messageStart: { role: "user" } };
const stop = (stopReason: string) => ({ messageStop: { stopReason } });
const text = (index: unknown, value: string) => ({
  contentBlockDelta: { contentBlockIndex: index, delta: { text: value } },
});
const call = (index: unknown, toolUseId: string, name: string, more: object = {}) => ({
  contentBlockStart: { contentBlockIndex: index, start: { toolUse: { toolUseId, name, ...more } } },
});
const input = (index: unknown, fragment: unknown) => ({
  contentBlockDelta: { contentBlockIndex: index, delta: { toolUse: { input: fragment } } },
});
const result = (index: unknown, toolUseId: string, status = "success") => ({
  contentBlockStart: { contentBlockIndex: index, start: { toolResult: { toolUseId, status } } },
});
const resultDelta = (index: unknown, parts: unknown) => ({
  contentBlockDelta: { contentBlockIndex: index, delta: { toolResult: parts } },
});
const reasoning = (index: unknown, delta: object) => ({
  contentBlockDelta: { contentBlockIndex: index, delta: { reasoningContent: delta } },
});
const metadata = (index: unknown, fragment: string) => ({
  contentBlockDelta: {
    contentBlockIndex: index,
    delta: { toolResultMetadata: { metadata: fragment } },
  },
});
const close = (index: unknown) => ({ contentBlockStop: { contentBlockIndex: index } });
const usage = (inputTokens: number, outputTokens: number, more: object = {}) => ({
  metadata: { usage: { inputTokens, outputTokens, ...more }, metrics: { latencyMs: 12 } },
});

function fold(events: readonly unknown[], extra: readonly StreamMessage[] = []): ProviderEvent[] {
  return runCodec(createConverseFold(), [...events.flatMap(readUnionEvent), ...extra]);
}

function turn(...events: readonly unknown[]): Turn {
  return buildTurn(fold(events));
}

function end(...events: readonly unknown[]): TurnEnd {
  const last = fold(events).at(-1);
  if (last?.type !== "end") throw new Error("no end");
  return last;
}

function codes(turned: Turn): string[] {
  return turned.diagnostics.map((diagnostic) => diagnostic.code);
}

describe("Tool calls", () => {
  it("Two tool calls at a reused index keep their own inputs: [{0,A},{0,B},{1,C}] [AC-17]", () => {
    const turned = turn(
      assistant,
      call(0, "A", "first"),
      input(0, '{"a":'),
      input(0, "1}"),
      call(0, "B", "second"),
      input(0, '{"b":2}'),
      call(1, "C", "third"),
      input(1, '{"c":3}'),
      close(0),
      close(1),
      stop("tool_use"),
    );
    expect(turned.toolCalls.map(({ id, name, input: value }) => ({ id, name, value }))).toEqual([
      { id: "A", name: "first", value: { a: 1 } },
      { id: "B", name: "second", value: { b: 2 } },
      { id: "C", name: "third", value: { c: 3 } },
    ]);
    expect(turned.end).toMatchObject({
      outcome: "action-required",
      openToolCallIds: ["A", "B", "C"],
    });
  });

  it("A repeated id becomes one tool call with the input of the last start, with a diagnostic [AC-18]", () => {
    const turned = turn(
      assistant,
      call(0, "X", "old"),
      input(0, '{"n":1}'),
      close(0),
      call(1, "Y", "other"),
      close(1),
      call(2, "X", "new"),
      input(2, '{"n":2}'),
      close(2),
      stop("tool_use"),
    );
    expect(turned.toolCalls).toEqual([
      { id: "X", name: "new", inputText: '{"n":2}', runBy: "client", input: { n: 2 } },
      { id: "Y", name: "other", inputText: "", runBy: "client", input: {} },
    ]);
    expect(turned.messages[0]?.blocks.map((block) => block.type)).toEqual([
      "tool-call",
      "tool-call",
    ]);
    expect(codes(turned)).toEqual(["tool_id_repeated"]);
  });

  it("A start event closes the open block at its index [SD-17]", () => {
    const turned = turn(assistant, text(0, "before"), call(0, "A", "tool"), stop("tool_use"));
    expect(turned.messages[0]?.blocks).toMatchObject([
      { type: "text", text: "before" },
      { type: "tool-call", toolCall: { id: "A" } },
    ]);
    expect(codes(turned)).toEqual(["block_stop_missing", "block_stop_missing"]);
  });

  it("Fragments of interleaved blocks go to the block open at their index [AC-23]", () => {
    const turned = turn(
      assistant,
      call(0, "A", "a"),
      call(1, "B", "b"),
      input(0, '{"x"'),
      input(1, '{"y"'),
      input(0, ":1}"),
      input(1, ":2}"),
      close(1),
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls.map((one) => one.input)).toEqual([{ x: 1 }, { y: 2 }]);
  });

  it("Parallel blocks are numbered by their start, not by their stop [SD-19]", () => {
    const events = fold([
      assistant,
      call(0, "A", "a"),
      call(1, "B", "b"),
      close(1),
      close(0),
      stop("tool_use"),
    ]);
    const blocks = events.filter((event) => event.type === "tool.end");
    expect(blocks.map((event) => [event.toolCall.id, event.block])).toEqual([
      ["B", 1],
      ["A", 0],
    ]);
    expect(buildTurn(events).messages[0]?.blocks).toMatchObject([
      { toolCall: { id: "A" } },
      { toolCall: { id: "B" } },
    ]);
  });

  it("A tool call without arguments has an empty object as input [AC-27]", () => {
    expect(turn(assistant, call(0, "A", "a"), close(0), stop("tool_use")).toolCalls).toEqual([
      { id: "A", name: "a", inputText: "", runBy: "client", input: {} },
    ]);
  });

  it("Arguments that are not JSON are reported with their raw text, never as {} [AC-27, RMA-P0-4]", () => {
    const turned = turn(
      assistant,
      call(0, "A", "a"),
      input(0, '{"a":'),
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls).toEqual([
      {
        id: "A",
        name: "a",
        inputText: '{"a":',
        runBy: "client",
        input: null,
        inputError: { problem: "invalid-json", message: expect.any(String) },
      },
    ]);
    expect(codes(turned)).toEqual(["tool_input_invalid"]);
  });

  it.each(["[1,2]", "null", "7", '"text"'])(
    "Arguments that are not an object are reported: %s [AC-28]",
    (fragment) => {
      const turned = turn(assistant, call(0, "A", "a"), input(0, fragment), stop("tool_use"));
      expect(turned.toolCalls).toMatchObject([
        { input: null, inputText: fragment, inputError: { problem: "not-an-object" } },
      ]);
    },
  );

  it("Fragments split inside an escape or a character are joined [AC-29]", () => {
    const turned = turn(
      assistant,
      call(0, "A", "a"),
      input(0, '{"e":"\\u00'),
      input(0, 'e9","r":"\ud83d'),
      input(0, '\ude80"}'),
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls[0]?.input).toEqual({ e: "é", r: "🚀" });
    expect(codes(turned)).toEqual([]);
  });

  it("Arguments that arrive as a parsed object are accepted [SD-23]", () => {
    const turned = turn(assistant, call(0, "A", "a"), input(0, { a: [1] }), stop("tool_use"));
    expect(turned.toolCalls[0]?.input).toEqual({ a: [1] });
  });

  it("Arguments without a start event create no tool call and are kept as unknown [AC-20, SD-20]", () => {
    const events = fold([assistant, input(0, '{"a":1}'), text(1, "hi"), stop("end_turn")]);
    expect(events.filter((event) => event.type.startsWith("tool."))).toEqual([]);
    expect(events).toContainEqual({
      type: "unknown",
      what: "delta",
      name: "toolUse",
      raw: { input: '{"a":1}' },
    });
    expect(codes(buildTurn(events))).toEqual(["tool_input_unmatched", "block_stop_missing"]);
  });

  it("A start event without an id creates neither a tool call nor text [SD-22]", () => {
    const turned = turn(
      assistant,
      { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: {} } } },
      input(0, "{}"),
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls).toEqual([]);
    expect(turned.messages[0]?.blocks).toEqual([]);
    expect(turned.unknown.map((seen) => seen.what)).toEqual(["start", "delta"]);
    expect(turned.end).toMatchObject({ outcome: "failed", failure: { code: "incomplete_turn" } });
  });

  it("An empty toolResult in a start event is a result without an id, and following text is its content [SD-22]", () => {
    const turned = turn(
      { messageStart: { role: "user" } },
      { contentBlockStart: { contentBlockIndex: 0, start: { toolResult: {} } } },
      {
        contentBlockDelta: { contentBlockIndex: 0, delta: { toolResult: [{ text: "42" }] } },
      },
      close(0),
      stop("end_turn"),
    );
    const result = { toolCallId: "", isError: false, parts: [{ type: "text", text: "42" }] };
    expect(turned.messages.flatMap(({ blocks }) => blocks)).toEqual([
      { type: "tool-result", result },
    ]);
    expect(codes(turned)).toEqual(["tool_result_unmatched"]);
  });

  it("A tool call truncated before its arguments has no input [RMA-P0-4]", () => {
    const cut = { input: null, inputError: { problem: "incomplete" } };
    const limited = turn(assistant, call(0, "A", "wipe"), stop("max_tokens"));
    expect(limited.messages[0]?.blocks).toMatchObject([{ toolCall: cut }]);
    const ended = turn(assistant, call(0, "A", "wipe"));
    expect(ended.messages[0]?.blocks).toMatchObject([{ toolCall: cut }]);
    const reused = turn(
      assistant,
      call(0, "A", "wipe"),
      call(0, "B", "b"),
      close(0),
      stop("tool_use"),
    );
    expect(reused.toolCalls).toMatchObject([cut, { input: {} }]);
  });

  it("An integer too large to parse exactly is reported with a diagnostic", () => {
    const exact = turn(
      assistant,
      call(0, "A", "a"),
      input(0, '{"s":"12345678901234567890","n":9007199254740991}'),
      close(0),
      stop("tool_use"),
    );
    expect(codes(exact)).toEqual([]);
    const rounded = turn(
      assistant,
      call(0, "A", "a"),
      input(0, '{"n":12345678901234567890}'),
      close(0),
      stop("tool_use"),
    );
    expect(rounded.toolCalls).toMatchObject([{ inputText: '{"n":12345678901234567890}' }]);
    expect(codes(rounded)).toEqual(["number_not_exact"]);
  });

  it("Every opened block is closed, also a block after the end of its message [AC-21]", () => {
    const turned = turn(
      assistant,
      stop("end_turn"),
      call(0, "A", "a"),
      input(0, "{}"),
      result(1, "B"),
      close(1),
      stop("tool_result"),
      assistant,
      stop("tool_use"),
    );
    expect(turned.toolCalls.map((one) => one.id)).toEqual(["A"]);
    expect(turned.end?.openToolCallIds).toEqual(["A"]);
  });

  it("A tool call without a name is kept, so a result can be sent for it", () => {
    const turned = turn(
      assistant,
      { contentBlockStart: { contentBlockIndex: 0, start: { toolUse: { toolUseId: "A" } } } },
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls).toMatchObject([{ id: "A", name: "" }]);
    expect(codes(turned)).toEqual(["tool_name_missing"]);
  });
});

describe("The side that runs a tool call", () => {
  const serverRound = [
    assistant,
    call(0, "S", "shell", { type: "server_tool_use" }),
    input(0, '{"cmd":"ls"}'),
    close(0),
    stop("tool_use"),
    user,
    result(0, "S"),
    resultDelta(0, [{ text: "a.txt" }]),
    close(0),
    stop("tool_result"),
  ];

  it("Server tool calls appear with their results and are not open for the client [AC-39, RMA-P0-1]", () => {
    const turned = turn(
      ...serverRound,
      assistant,
      text(0, "One file."),
      close(0),
      stop("end_turn"),
    );
    expect(turned.toolCalls).toEqual([]);
    expect(turned.serverToolCalls).toEqual([
      {
        toolCall: {
          id: "S",
          name: "shell",
          inputText: '{"cmd":"ls"}',
          runBy: "server",
          input: { cmd: "ls" },
        },
        result: { toolCallId: "S", parts: [{ type: "text", text: "a.txt" }], isError: false },
      },
    ]);
    expect(turned.end).toMatchObject({ outcome: "completed", openToolCallIds: [] });
    expect(codes(turned)).toEqual([]);
  });

  it("Only the inline tool calls after a server round are open for the client [RMA-P0-1]", () => {
    const turned = turn(
      ...serverRound,
      assistant,
      call(0, "B", "ask", { type: "tool_use" }),
      close(0),
      call(1, "C", "ask"),
      close(1),
      stop("tool_use"),
    );
    expect(turned.end).toMatchObject({ outcome: "action-required", openToolCallIds: ["B", "C"] });
  });

  it("An untyped tool call with a result in the stream was run by the server [AC-39]", () => {
    const turned = turn(
      assistant,
      call(0, "U", "lookup"),
      close(0),
      stop("tool_use"),
      user,
      result(0, "U", "error"),
      resultDelta(0, [{ text: "no" }]),
      close(0),
      stop("tool_result"),
      assistant,
      text(0, "Sorry."),
      close(0),
      stop("end_turn"),
    );
    expect(turned.toolCalls).toEqual([]);
    expect(turned.serverToolCalls).toMatchObject([{ result: { isError: true } }]);
  });

  it("The server name of an MCP tool is kept", () => {
    const more = { type: "mcp_tool_use", serverName: "docs" };
    const turned = turn(assistant, call(0, "M", "search", more), close(0), stop("tool_use"));
    expect(turned.serverToolCalls).toMatchObject([
      { toolCall: { server: "docs", runBy: "server" }, result: null },
    ]);
  });

  it("A stream truncated after the stop of a server tool does not request a result from the client [RMA-P0-2]", () => {
    const turned = turn(...serverRound.slice(0, 5));
    expect(turned.end).toMatchObject({
      outcome: "failed",
      reason: "tool_use",
      openToolCallIds: [],
      failure: { code: "incomplete_turn" },
    });
    expect(codes(turned)).toEqual(["tool_result_missing"]);
  });

  it("A result without a tool call is reported [SD-34]", () => {
    const turned = turn(user, result(0, "ghost"), close(0), stop("tool_result"));
    expect(codes(turned)).toEqual(["tool_result_unmatched"]);
  });

  it("An id reopened after its result is open for the client again", () => {
    const turned = turn(
      ...serverRound,
      assistant,
      call(0, "S", "mine"),
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls).toMatchObject([{ id: "S", name: "mine" }]);
    expect(turned.end?.openToolCallIds).toEqual(["S"]);
  });

  it("A result that arrives while its tool call is still open is kept", () => {
    const turned = turn(
      assistant,
      call(0, "A", "a"),
      result(1, "A"),
      close(1),
      close(0),
      stop("tool_use"),
      assistant,
      text(0, "ok"),
      close(0),
      stop("end_turn"),
    );
    expect(turned.toolCalls).toEqual([]);
    expect(turned.end?.openToolCallIds).toEqual([]);
  });
});

describe("Messages and blocks", () => {
  it("Text and reasoning blocks open with their first delta [AC-19]", () => {
    expect(
      fold([
        assistant,
        reasoning(0, { text: "hm" }),
        close(0),
        text(1, "hi"),
        close(1),
        stop("end_turn"),
      ]),
    ).toEqual([
      { type: "message.start", message: 0, role: "assistant" },
      { type: "reasoning.delta", message: 0, block: 0, text: "hm" },
      { type: "reasoning.end", message: 0, block: 0, text: "hm" },
      { type: "text.delta", message: 0, block: 1, text: "hi" },
      { type: "text.end", message: 0, block: 1, text: "hi" },
      { type: "message.end", message: 0, reason: "end_turn" },
      { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage: null },
    ]);
  });

  it("A block without a stop is closed by the next start at its index, the message stop, or the end [AC-21]", () => {
    const atStart = fold([assistant, text(0, "a"), call(0, "A", "a"), close(0), stop("tool_use")]);
    const atStop = fold([assistant, text(0, "a"), stop("end_turn")]);
    const atEnd = fold([assistant, text(0, "a")]);
    for (const events of [atStart, atStop, atEnd]) {
      expect(events.find((event) => event.type === "text.end")).toEqual({
        type: "text.end",
        message: 0,
        block: 0,
        text: "a",
        implicitStop: true,
      });
      expect(codes(buildTurn(events))).toContain("block_stop_missing");
    }
  });

  it("A second stop of a block is ignored with a diagnostic [AC-22]", () => {
    const turned = turn(assistant, text(0, "a"), close(0), close(0), stop("end_turn"));
    expect(turned.text).toBe("a");
    expect(codes(turned)).toEqual(["block_stop_unmatched"]);
  });

  it("Several messages keep their order, roles and indexes [AC-24]", () => {
    const turned = turn(
      assistant,
      text(0, "Let me check."),
      close(0),
      call(1, "A", "look"),
      close(1),
      stop("tool_use"),
      user,
      result(0, "A"),
      resultDelta(0, [{ json: { n: 1 } }]),
      close(0),
      stop("tool_result"),
      assistant,
      text(0, "One."),
      close(0),
      stop("end_turn"),
    );
    expect(turned.messages).toMatchObject([
      {
        role: "assistant",
        reason: "tool_use",
        blocks: [{ text: "Let me check." }, { toolCall: { id: "A" } }],
      },
      { role: "user", reason: "tool_result", blocks: [{ result: { toolCallId: "A" } }] },
      { role: "assistant", reason: "end_turn", blocks: [{ text: "One." }] },
    ]);
    expect([turned.text, turned.finalText]).toEqual(["Let me check.One.", "One."]);
  });

  it("User text is kept and never mixed into assistant text [AC-25, SD-25]", () => {
    const turned = turn(
      user,
      text(0, "from the user"),
      close(0),
      stop("end_turn"),
      assistant,
      text(0, "from the agent"),
      close(0),
      stop("end_turn"),
    );
    expect(turned.text).toBe("from the agent");
    expect(turned.messages[0]).toEqual({
      role: "user",
      reason: "end_turn",
      blocks: [{ type: "text", text: "from the user" }],
    });
  });

  it("Content without a message start opens an assistant message, with a diagnostic [AC-26, SD-24]", () => {
    const turned = turn(text(0, "hi"), close(0), stop("end_turn"));
    expect(turned.messages).toMatchObject([{ role: "assistant", blocks: [{ text: "hi" }] }]);
    expect(codes(turned)).toEqual(["message_start_missing"]);
    expect(turned.end?.outcome).toBe("completed");
  });

  it("The next message start closes blocks that are still open [SD-18]", () => {
    const turned = turn(
      assistant,
      text(0, "first"),
      assistant,
      text(0, "second"),
      close(0),
      stop("end_turn"),
    );
    expect(turned.messages).toMatchObject([
      { blocks: [{ text: "first" }], reason: null },
      { blocks: [{ text: "second" }], reason: "end_turn" },
    ]);
    expect(codes(turned)).toEqual(["block_stop_missing", "message_stop_missing"]);
  });

  it("A delta of another kind starts a new block [SD-21]", () => {
    const turned = turn(
      assistant,
      call(0, "A", "a"),
      input(0, '{"a":'),
      text(0, "words"),
      input(0, "1}"),
      close(0),
      stop("tool_use"),
    );
    expect(turned.messages[0]?.blocks).toMatchObject([
      { toolCall: { id: "A", input: { a: 1 } } },
      { text: "words" },
    ]);
    expect(codes(turned)).toEqual(["block_kind_mismatch"]);
    const onText = turn(assistant, text(0, "words"), input(0, "{}"), close(0), stop("end_turn"));
    expect(onText.messages[0]?.blocks).toEqual([{ type: "text", text: "words" }]);
  });

  it.each([undefined, null, -1, 1.5, "zero", { odd: true }, 1e300])(
    "A stream with the block index %j is folded [AC-33]",
    (index) => {
      const turned = turn(
        assistant,
        text(index, "hi"),
        close(index),
        call(index, "A", "a"),
        input(index, "{}"),
        close(index),
        stop("tool_use"),
      );
      expect(turned.messages[0]?.blocks).toMatchObject([{ text: "hi" }, { toolCall: { id: "A" } }]);
    },
  );

  it("Text after the end of a message is delivered with a diagnostic [AC-40]", () => {
    const turned = turn(
      assistant,
      text(0, "hi"),
      close(0),
      stop("end_turn"),
      text(0, " again"),
      close(0),
    );
    expect(turned.text).toBe("hi again");
    expect(codes(turned)).toEqual(["event_after_end"]);
    expect(turned.end).toMatchObject({ outcome: "completed", reason: "end_turn" });
  });

  it("The first stop ends a message; a second stop is ignored", () => {
    const events = fold([assistant, text(0, "hi"), close(0), stop("end_turn"), stop("tool_use")]);
    expect(events.filter(({ type }) => type === "message.end")).toEqual([
      { type: "message.end", message: 0, reason: "end_turn" },
    ]);
    expect(codes(buildTurn(events))).toEqual(["event_after_end"]);
    expect(events.at(-1)).toMatchObject({ outcome: "completed", reason: "end_turn" });
  });

  it("Content after an exception is delivered with a diagnostic [AC-40]", () => {
    const turned = turn(
      assistant,
      { validationException: { message: "no" } },
      text(0, "late"),
      close(0),
      stop("end_turn"),
    );
    expect(turned.text).toBe("late");
    expect(codes(turned)).toEqual(["event_after_end", "event_after_end", "event_after_end"]);
    expect(turned.end?.outcome).toBe("failed");
  });

  it("A second exception is kept with its body, and the first stays the failure of the turn [AC-34, AC-63]", () => {
    const second = { reason: "CannotParse", fieldList: [{ name: "messages" }] };
    const messages: StreamMessage[] = [
      { type: "exception", name: "runtimeClientError", payload: { message: "first" } },
      { type: "exception", name: "validationException", payload: second },
    ];
    const events = fold([assistant, text(0, "a"), close(0)], messages);
    const unknownEvent = {
      type: "unknown",
      what: "event",
      name: "validationException",
      raw: second,
    };
    expect(events.slice(-5)).toEqual([
      unknownEvent,
      {
        type: "diagnostic",
        diagnostic: {
          code: "failure_repeated",
          message: '"validationException" came after the failure that decided the turn',
        },
      },
      {
        type: "diagnostic",
        diagnostic: {
          code: "message_stop_missing",
          message: "A message was never closed by the provider",
        },
      },
      { type: "message.end", message: 0, reason: null },
      {
        type: "end",
        outcome: "failed",
        reason: null,
        openToolCallIds: [],
        usage: null,
        failure: {
          code: "stream_exception",
          message: "runtimeClientError: first",
          details: { type: "runtimeClientError", payload: { message: "first" } },
        },
      },
    ]);
    expect(turn({ internalServerException: {} }, { validationException: second }).unknown).toEqual([
      unknownEvent,
    ]);
  });

  it("An endless stream of exceptions reaches the limit of the turn", () => {
    const codec = createConverseFold({ maxCharacters: 10_000 });
    const state = codec.initial();
    let seen = 0;
    for (let at = 0; at < 20_000; at++) {
      codec.step(state, { type: "exception", name: "xException", payload: {} }, () => (seen += 1));
    }
    expect(seen).toBeLessThan(300);
  });

  it("A surrogate pair split over two deltas is joined; a lone half is replaced only at the end [AC-81]", () => {
    const joined = fold([
      assistant,
      text(0, "a\ud83d"),
      text(0, "\ude00b"),
      close(0),
      stop("end_turn"),
    ]);
    expect(joined.flatMap((event) => (event.type === "text.delta" ? [event.text] : []))).toEqual([
      "a",
      "😀b",
    ]);
    const half = turn(assistant, text(0, "a\ud83d"), close(0), stop("end_turn"));
    expect(half.text).toBe("a\ufffd");
    expect(codes(half)).toEqual(["unpaired_surrogate"]);
  });

  it("Each open block is visited once, for any number of blocks [AC-41]", () => {
    const visits = (blocks: number, messages: number): number => {
      const codec = createConverseFold();
      const state = codec.initial();
      let visited = 0;
      const values = state.slots.values.bind(state.slots);
      state.slots.values = () => {
        visited += state.slots.size;
        return values();
      };
      const open = Array.from({ length: blocks }, (_, at) => text(at, "x"));
      const strayStops = Array.from({ length: blocks }, (_, at) => close(-1 - at));
      const events = [
        assistant,
        ...open,
        ...strayStops,
        ...Array.from({ length: messages }, () => stop("end_turn")),
      ];
      for (const event of events.flatMap(readUnionEvent)) codec.step(state, event, () => {});
      codec.finish(state, () => {});
      return visited;
    };
    expect([visits(1000, 100), visits(4000, 400), visits(10_000, 1000)]).toEqual([
      1000, 4000, 10_000,
    ]);
  });

  it("A turn of 10,000 blocks and 1,000 messages keeps only the current message in memory", () => {
    let steps = 0;
    const countingFold = createConverseFold();
    const state = countingFold.initial();
    const emit = (): void => void (steps += 1);
    for (let message = 0; message < 1000; message++) {
      const events = [
        assistant,
        ...Array.from({ length: 10 }, (_, at) => [text(at, "x"), close(at)]).flat(),
        stop("end_turn"),
      ];
      for (const event of events.flatMap(readUnionEvent)) countingFold.step(state, event, emit);
      // The fold keeps only the blocks of the current message, so the cost of a step does not grow with the turn.
      expect(state.slots.size).toBeLessThanOrEqual(10);
    }
    countingFold.finish(state, emit);
    expect([steps, state.blockCount, state.messageCount]).toEqual([22_001, 10_000, 1000]);
  });
});

describe("Tool results", () => {
  const answered = (...deltas: readonly unknown[]) =>
    turn(
      assistant,
      call(0, "A", "a"),
      close(0),
      stop("tool_use"),
      user,
      result(0, "A"),
      ...deltas,
      close(0),
      stop("tool_result"),
      assistant,
      text(0, "."),
      close(0),
      stop("end_turn"),
    ).serverToolCalls[0]?.result;

  it("Text and JSON parts are appended in order [AC-30]", () => {
    expect(
      answered(
        resultDelta(0, [{ text: "a" }, { json: { b: 1 } }]),
        resultDelta(0, [{ json: null }, { text: "c" }]),
      )?.parts,
    ).toEqual([
      { type: "text", text: "a" },
      { type: "json", value: { b: 1 } },
      { type: "json", value: null },
      { type: "text", text: "c" },
    ]);
  });

  it("A text part continues over deltas", () => {
    expect(
      answered(resultDelta(0, [{ text: "ab" }]), resultDelta(0, [{ text: "cd" }]))?.parts,
    ).toEqual([{ type: "text", text: "abcd" }]);
  });

  it("A result delta that is not an array is accepted, and parts of unknown kinds are kept [AC-30, SD-23]", () => {
    expect(answered(resultDelta(0, { text: "a" }))?.parts).toEqual([{ type: "text", text: "a" }]);
    expect(answered(resultDelta(0, [{ image: "x" }]))?.parts).toEqual([
      { type: "unknown", raw: { image: "x" } },
    ]);
  });

  it("A surrogate pair split over two result deltas is joined [AC-81]", () => {
    expect(
      answered(resultDelta(0, [{ text: "a\ud83d" }]), resultDelta(0, [{ text: "\ude00" }]))?.parts,
    ).toEqual([{ type: "text", text: "a😀" }]);
  });

  it("Result metadata is joined and parsed; unparsable metadata stays raw [AC-31]", () => {
    const metadata = (fragment: string) => ({
      contentBlockDelta: {
        contentBlockIndex: 0,
        delta: { toolResultMetadata: { metadata: fragment } },
      },
    });
    expect(answered(metadata('{"ms"'), metadata(":5}"))?.metadata).toEqual({ ms: 5 });
    expect(answered(metadata("{oops"))?.metadata).toBe("{oops");
  });
});

describe("Reasoning", () => {
  it("Reasoning text keeps its signature, and redacted content stays unchanged [RMA-P1-2]", () => {
    const turned = turn(
      assistant,
      reasoning(0, { text: "think" }),
      reasoning(0, { text: "ing" }),
      reasoning(0, { signature: "c2ln" }),
      close(0),
      reasoning(1, { redactedContent: "AP+A" }),
      close(1),
      text(2, "done"),
      close(2),
      stop("end_turn"),
    );
    expect(turned.messages[0]?.blocks).toEqual([
      { type: "reasoning", text: "thinking", signature: "c2ln" },
      { type: "reasoning", text: "", redacted: "AP+A" },
      { type: "text", text: "done" },
    ]);
  });

  it("Redacted content is accepted as the bytes of the AWS SDK", () => {
    const turned = turn(
      assistant,
      reasoning(0, { redactedContent: Uint8Array.of(0, 1, 2, 255) }),
      close(0),
      stop("end_turn"),
    );
    expect(turned.messages[0]?.blocks).toEqual([
      { type: "reasoning", text: "", redacted: "AAEC/w==" },
    ]);
  });

  it("Redacted content in padded base64 pieces is joined", () => {
    const turned = turn(
      assistant,
      reasoning(0, { redactedContent: "AA==" }),
      reasoning(0, { redactedContent: "/w==" }),
      close(0),
      stop("end_turn"),
    );
    expect(turned.messages[0]?.blocks).toEqual([{ type: "reasoning", text: "", redacted: "AP8=" }]);
  });
});

describe("Unknown input", () => {
  it("Unknown events, deltas, starts, roles, reasons and fields are kept unchanged [AC-34]", () => {
    const turned = turn(
      { messageStart: { role: "critic", mood: 1 } },
      { novelty: { a: 1 } },
      { contentBlockStart: { contentBlockIndex: 0, start: { image: { format: "png" } } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { citation: { title: "t" } } } },
      stop("weary"),
    );
    expect(turned.unknown).toEqual([
      { type: "unknown", what: "field", name: "messageStart.mood", raw: 1 },
      { type: "unknown", what: "role", name: '"critic"', raw: "critic" },
      { type: "unknown", what: "event", name: "novelty", raw: { a: 1 } },
      { type: "unknown", what: "start", name: "image", raw: { format: "png" } },
      { type: "unknown", what: "delta", name: "citation", raw: { title: "t" } },
      { type: "unknown", what: "reason", name: "weary", raw: "weary" },
    ]);
    expect(turned.end).toMatchObject({ outcome: "other", reason: "weary" });
  });

  it("Unknown fields of usage, metrics, tool results and their metadata are kept [AC-34]", () => {
    const details = (inputTokens: number) => ({ cacheDetails: [{ ttl: "1h", inputTokens }] });
    const turned = turn(
      assistant,
      call(0, "A", "a"),
      {
        contentBlockDelta: {
          contentBlockIndex: 0,
          delta: { toolUse: { input: "{}", confidence: 1 } },
        },
      },
      close(0),
      stop("tool_use"),
      usage(1, 2, details(7)),
      user,
      result(0, "A"),
      resultDelta(0, [
        { text: "a", type: "text", annotations: [1] },
        { json: { b: 1 }, p: "padding", text: null },
        { text: "c", json: { lost: false } },
      ]),
      {
        contentBlockDelta: {
          contentBlockIndex: 0,
          delta: { toolResultMetadata: { metadata: "{}", encoding: "json" } },
        },
      },
      close(0),
      stop("tool_result"),
      assistant,
      text(0, "."),
      close(0),
      stop("end_turn"),
      usage(3, 4, details(9)),
      usage(3, 4, details(9)),
      { metadata: { usage: {}, metrics: { latencyMs: 1, timeToFirstTokenMs: 5 }, trace: {} } },
    );
    const field = (name: string, raw: unknown) => ({ type: "unknown", what: "field", name, raw });
    expect(turned.unknown).toEqual([
      field("toolUse.confidence", 1),
      field("metadata.usage.cacheDetails", details(7).cacheDetails),
      field("toolResult.content.annotations", [1]),
      field("toolResult.content.text", null),
      field("toolResult.content.json", { lost: false }),
      field("toolResultMetadata.encoding", "json"),
      field("metadata.usage.cacheDetails", details(9).cacheDetails),
      field("metadata.trace", {}),
      field("metadata.metrics.timeToFirstTokenMs", 5),
    ]);
    expect(turned.end).toMatchObject({
      outcome: "completed",
      usage: { inputTokens: 7, outputTokens: 10, totalTokens: 17 },
    });
  });

  it("Values of one unknown field are kept up to a limit; for a field of deltas only the first", () => {
    const many = Array.from({ length: 100 }, (_, at) => [
      { metadata: { usage: { inputTokens: 1, call: at } } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text: "." }, order: at } },
    ]).flat();
    const names = turn(assistant, ...many, close(0), stop("end_turn")).unknown.map(
      ({ name }) => name,
    );
    expect(names.filter((name) => name === "metadata.usage.call")).toHaveLength(64);
    expect(names.filter((name) => name === "contentBlockDelta.order")).toHaveLength(1);
  });

  it("A union member unknown to the AWS SDK is read [AC-34]", () => {
    expect(turn({ $unknown: ["novelty", { a: 1 }] }).unknown).toMatchObject([
      { what: "event", name: "novelty", raw: { a: 1 } },
    ]);
  });

  it("A union that lists its absent members as null is read", () => {
    const nulls = { messageStart: null, contentBlockDelta: null, messageStop: null };
    expect(
      turn(
        { ...nulls, ...assistant },
        { ...nulls, ...text(0, "hi") },
        { ...nulls, ...stop("end_turn") },
      ),
    ).toMatchObject({ text: "hi", end: { outcome: "completed" } });
  });

  it("Values that JSON cannot represent do not cause a throw", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const turned = turn(
      assistant,
      text(10n, "hi"),
      call(1, "A", "a"),
      input(1, cycle),
      close(1),
      { novelty: cycle },
      stop("tool_use"),
    );
    expect(turned.text).toBe("hi");
  });

  it("Padding is never emitted [AC-15]", () => {
    const padded = {
      contentBlockDelta: { contentBlockIndex: 0, delta: { text: "hi" }, p: "abcdefgh" },
    };
    const events = fold([assistant, padded, close(0), stop("end_turn")]);
    expect(JSON.stringify(events)).not.toContain("abcdefgh");
    expect(buildTurn(events).text).toBe("hi");
  });

  it("A repeated anomaly is listed sixteen times, and further occurrences are counted", () => {
    const turned = turn(assistant, ...Array.from({ length: 40 }, () => close(9)), stop("end_turn"));
    expect(turned.diagnostics).toHaveLength(17);
    expect(turned.diagnostics.at(-1)).toEqual({
      code: "block_stop_unmatched",
      message: "24 more of the same",
      count: 24,
    });
  });

  it("Hostile keys do not pollute prototypes [AC-42]", () => {
    const hostile = JSON.parse(
      '[{"messageStart":{"role":"assistant","__proto__":{"polluted":1}}},{"__proto__":{"polluted":1}},' +
        '{"contentBlockStart":{"contentBlockIndex":"__proto__","start":{"toolUse":{"toolUseId":"__proto__","name":"constructor"}}}},' +
        '{"contentBlockDelta":{"contentBlockIndex":"__proto__","delta":{"toolUse":{"input":"{\\"__proto__\\":{\\"polluted\\":1}}"},"constructor":{"prototype":{"polluted":1}}}}},' +
        '{"messageStop":{"stopReason":"toString"}}]',
    );
    const turned = turn(...hostile);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(turned.toolCalls[0]).toMatchObject({ id: "__proto__", name: "constructor" });
    expect(Object.keys(turned.toolCalls[0]?.input ?? {})).toEqual(["__proto__"]);
    expect(turned.end).toMatchObject({ outcome: "other", reason: "toString" });
  });
});

describe("Usage", () => {
  it("Usage is summed over all metadata events, with computed totals and separate cache tokens [AC-36]", () => {
    const turned = turn(
      assistant,
      text(0, "hi"),
      close(0),
      usage(100, 10, { totalTokens: 115, cacheReadInputTokens: 5 }),
      stop("tool_use"),
      assistant,
      text(0, "x"),
      close(0),
      stop("end_turn"),
      usage(7, 3, { cacheWriteInputTokens: 2 }),
    );
    expect(turned.usage).toEqual({
      inputTokens: 107,
      outputTokens: 13,
      cacheReadTokens: 5,
      cacheWriteTokens: 2,
      totalTokens: 127,
    });
    expect(turned.end?.usage).toEqual(turned.usage);
  });

  it("Usage before, after and without a message stop has the same totals [AC-37]", () => {
    const one = [text(0, "hi"), close(0)];
    const totals = [
      turn(assistant, ...one, usage(12, 7), stop("end_turn")),
      turn(assistant, ...one, stop("end_turn"), usage(12, 7)),
      turn(assistant, ...one, usage(12, 7)),
    ].map((turned) => turned.usage);
    const expected = {
      inputTokens: 12,
      outputTokens: 7,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      totalTokens: 19,
    };
    expect(totals).toEqual([expected, expected, expected]);
  });

  it("The usage event has the latency of its model call [RMA-P1-2]", () => {
    expect(fold([usage(1, 1)]).find((event) => event.type === "usage")).toMatchObject({
      latencyMs: 12,
    });
  });

  it("Null and invalid values in metadata are tolerated [SD-23]", () => {
    expect(turn({ metadata: null }, { messageStart: null }).usage).toBeNull();
    const odd = turn({
      metadata: { usage: { inputTokens: "7", outputTokens: -1, totalTokens: 3 } },
    });
    expect(odd.usage).toMatchObject({ inputTokens: 0, outputTokens: 0, totalTokens: 3 });
    expect(codes(odd).filter((code) => code === "usage_invalid")).toHaveLength(2);
  });
});

describe("The end of a turn", () => {
  it.each([
    ["end_turn", "completed"],
    ["stop_sequence", "completed"],
    ["max_tokens", "limited"],
    ["max_output_tokens_exceeded", "limited"],
    ["max_iterations_exceeded", "limited"],
    ["timeout_exceeded", "limited"],
    ["model_context_window_exceeded", "limited"],
    ["content_filtered", "limited"],
    ["hook_stopped", "limited"],
    ["interrupted", "limited"],
    ["partial_turn", "limited"],
    ["malformed_model_output", "failed"],
    ["malformed_tool_use", "failed"],
    ["tool_result", "failed"],
    ["guardrail_intervened", "limited"],
    ["content_blocked", "other"],
  ] as const)(
    "The stop reason %s maps to %s, and the reason is kept [AC-35]",
    (reason, outcome) => {
      expect(end(assistant, text(0, "hi"), close(0), stop(reason))).toMatchObject({
        outcome,
        reason,
      });
    },
  );

  it("tool_use maps to action-required if a tool call waits for the client [AC-35]", () => {
    expect(end(assistant, call(0, "A", "a"), close(0), stop("tool_use"))).toEqual({
      type: "end",
      outcome: "action-required",
      reason: "tool_use",
      openToolCallIds: ["A"],
      usage: null,
    });
  });

  it("A message truncated by a limit leaves no tool call open [SD-31]", () => {
    expect(end(assistant, call(0, "A", "a"), input(0, '{"a'), stop("max_tokens"))).toMatchObject({
      outcome: "limited",
      openToolCallIds: [],
    });
  });

  it("An open tool call overrides the reason end_turn", () => {
    const turned = turn(assistant, call(0, "A", "a"), close(0), stop("end_turn"));
    expect(turned.end).toMatchObject({ outcome: "action-required", reason: "end_turn" });
    expect(codes(turned)).toEqual(["stop_reason_contradicted"]);
  });

  it("A hook's denial is reported as a policy stop with its name and reason [AC-38]", () => {
    const hook = {
      hookEventId: "h1",
      name: "guard",
      type: "before_tool_call",
      decision: "deny",
      reason: "not today",
    };
    const events = fold([
      assistant,
      text(0, "hi"),
      close(0),
      { hookEvent: hook },
      stop("hook_stopped"),
    ]);
    expect(events.find((event) => event.type === "hook")).toEqual({
      type: "hook",
      id: "h1",
      name: "guard",
      stage: "before_tool_call",
      decision: "deny",
      reason: "not today",
    });
    expect(events.at(-1)).toMatchObject({
      outcome: "limited",
      reason: "hook_stopped",
      stoppedBy: { hook: "guard", reason: "not today" },
    });
  });

  it("A stream without its final stop is never a success [AC-12, AC-13]", () => {
    const cut = { outcome: "failed", failure: { code: "incomplete_turn" } };
    expect(end()).toMatchObject(cut);
    expect(end(assistant)).toMatchObject(cut);
    expect(end(assistant, text(0, "hi"), close(0))).toMatchObject(cut);
    expect(
      end(assistant, text(0, "a"), close(0), stop("end_turn"), assistant, text(0, "b")),
    ).toMatchObject(cut);
    expect(end(assistant, { messageStop: {} })).toMatchObject(cut);
    expect(end(user, text(0, "results"), close(0), stop("end_turn"))).toMatchObject(cut);
  });

  it("A turn ended by an exception keeps its text and fails [SD-32]", () => {
    const turned = turn(assistant, text(0, "partial"), {
      runtimeClientError: { message: "duplicate Ids" },
    });
    expect(turned.text).toBe("partial");
    expect(turned.end).toMatchObject({
      outcome: "failed",
      failure: {
        code: "stream_exception",
        message: "runtimeClientError: duplicate Ids",
        details: { type: "runtimeClientError", payload: { message: "duplicate Ids" } },
      },
    });
  });

  it("A turn with an unreadable event fails and keeps the raw text of the event [RMA-P1-14]", () => {
    const hole: StreamMessage = {
      type: "malformed",
      name: "contentBlockDelta",
      reason: "not JSON",
      raw: "{x",
    };
    const events = runCodec(createConverseFold(), [
      ...[assistant, text(0, "a"), close(0)].flatMap(readUnionEvent),
      hole,
      ...readUnionEvent(stop("end_turn")),
    ]);
    expect(events).toContainEqual({
      type: "unknown",
      what: "event",
      name: "contentBlockDelta",
      raw: "{x",
    });
    expect(events.at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "malformed_event" },
    });
  });

  it("An endless stream of empty deltas reaches the limit of the turn", () => {
    const codec = createConverseFold({ maxCharacters: 10_000 });
    const state = codec.initial();
    for (let at = 0; at < 1000; at++) {
      for (const event of readUnionEvent(text(at, ""))) codec.step(state, event, () => {});
    }
    expect(state.slots.size).toBeLessThan(100);
    expect(state.failure?.code).toBe("turn_too_large");
  });

  it("An endless stream of unknown events reaches the limit of the turn", () => {
    for (const event of [{}, { novelty: {} }, text(0, "x"), 1]) {
      const codec = createConverseFold({ maxCharacters: 10_000 });
      const state = codec.initial();
      let seen = 0;
      for (let at = 0; at < 20_000; at++) {
        for (const message of readUnionEvent(event)) {
          codec.step(state, message, ({ type }) => {
            if (type === "unknown") seen += 1;
          });
        }
      }
      expect(seen).toBeLessThan(200);
      expect(state.failure?.code).toBe("turn_too_large");
    }
  });

  it.each([
    ["text", [], (piece: string) => text(0, piece)],
    ["reasoning", [], (piece: string) => reasoning(0, { text: piece })],
    ["a signature", [], (piece: string) => reasoning(0, { signature: piece })],
    ["arguments", [call(0, "A", "a")], (piece: string) => input(0, piece)],
    ["metadata", [result(0, "A")], (piece: string) => metadata(0, piece)],
  ])(
    "%s costs less than four bytes per character in memory, however short its deltas are",
    (_, first, delta) => {
      const characters = 300_000;
      const retainedBytes = measureRetainedBytes(() => {
        const codec = createConverseFold();
        const state = codec.initial();
        const take = (event: unknown): void => {
          for (const message of readUnionEvent(event)) codec.step(state, message, () => {});
        };
        first.forEach(take);
        for (let at = 0; at < characters; at++) take(delta("abcdefgh".charAt(at % 8)));
        return state;
      });
      expect(retainedBytes / characters).toBeLessThan(4);
    },
  );

  it("A truncated tool call after the end of the message is not open for the client", () => {
    expect(end(assistant, stop("end_turn"), call(0, "A", "delete_all"))).toMatchObject({
      outcome: "failed",
      openToolCallIds: [],
    });
  });

  it("A tool call of an unknown type is not open for the client [AC-39]", () => {
    const turned = turn(
      assistant,
      call(0, "A", "a", { type: "code_interpreter_tool_use" }),
      close(0),
      stop("tool_use"),
    );
    expect(turned.toolCalls).toEqual([]);
    expect(codes(turned)).toContain("unknown_field");
  });

  it("Text above the limit is discarded, and the turn fails", () => {
    const codec = createConverseFold({ maxCharacters: 300 });
    const state = codec.initial();
    const many = [assistant, ...Array.from({ length: 50 }, () => text(0, "x".repeat(10)))];
    const events: ProviderEvent[] = [];
    for (const event of many.flatMap(readUnionEvent))
      codec.step(state, event, (out) => events.push(out));
    codec.finish(state, (out) => events.push(out));
    expect(state.characters).toBe(302);
    expect(events.at(-1)).toMatchObject({ outcome: "failed", failure: { code: "turn_too_large" } });
  });
});
