import { describe, expect, it } from "vitest";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import {
  type FinishedResponse,
  createResponseEncoder,
  encodeResponse,
} from "./response-encoder.ts";

const SCOPE = "turn1";

describe("Order of items", () => {
  it("Every kind of block becomes an item, in the order of the starts [SD-29]", () => {
    const events = [
      assistant(0),
      thought(0, 0, "The catalog has it."),
      text(0, 1, "Let me check."),
      call(0, 2, "a", '{"query":"shoes"}'),
      messageEnd(0, "tool_use"),
      user(1),
      result(1, 3, "a", "[]"),
      messageEnd(1, "tool_result"),
      assistant(2),
      text(2, 4, "Nothing found."),
      messageEnd(2, "end_turn"),
      end(),
    ];
    expect(response(events)).toEqual({
      status: "completed",
      incomplete_details: null,
      error: null,
      items: [
        {
          id: "rs_turn1_0",
          type: "reasoning",
          status: "completed",
          summary: [{ type: "summary_text", text: "The catalog has it." }],
        },
        message("msg_turn1_1", "commentary", "Let me check."),
        functionCall("fc_turn1_2", "a", '{"query":"shoes"}'),
        functionCallOutput("fco_turn1_3", "a", "[]"),
        message("msg_turn1_4", "final_answer", "Nothing found."),
      ],
      usage: null,
      anomalies: [],
    });
  });

  it("Parallel tool calls and results are ordered by their start, not by their end [SD-19]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      { type: "tool.start", message: 0, block: 0, toolCallId: "first", name: "search" },
      { type: "tool.start", message: 0, block: 1, toolCallId: "second", name: "search" },
      call(0, 1, "second", '{"q":2}'),
      call(0, 0, "first", '{"q":1}'),
      messageEnd(0, "tool_use"),
      user(1),
      result(1, 3, "second", "two"),
      result(1, 2, "first", "one"),
      messageEnd(1, "tool_result"),
      end(),
    ];
    expect(response(events).items).toEqual([
      functionCall("fc_turn1_0", "first", '{"q":1}'),
      functionCall("fc_turn1_1", "second", '{"q":2}'),
      functionCallOutput("fco_turn1_2", "first", "one"),
      functionCallOutput("fco_turn1_3", "second", "two"),
    ]);
  });

  it("A block that ends after the next message began keeps its position [SD-18]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      assistant(1),
      text(1, 1, "Late"),
      { type: "text.end", message: 0, block: 0, text: "Early", implicitStop: true },
      messageEnd(1, "end_turn"),
      end(),
    ];
    expect(response(events).items).toEqual([
      message("msg_turn1_0", "commentary", "Early"),
      message("msg_turn1_1", "final_answer", "Late"),
    ]);
  });

  it("Adjacent text blocks of a message are parts of one item", () => {
    const events = [assistant(0), text(0, 0, "One."), text(0, 1, "Two."), end()];
    expect(response(events).items).toEqual([
      message("msg_turn1_0", "final_answer", "One.", "Two."),
    ]);
  });

  it("A tool call between texts of a message separates the texts [SD-29]", () => {
    const events = [
      assistant(0),
      text(0, 0, "Before."),
      call(0, 1, "a", "{}"),
      text(0, 2, "After."),
      user(1),
      result(1, 3, "a", "ok"),
      assistant(2),
      text(2, 4, "Done."),
      end(),
    ];
    expect(response(events).items).toEqual([
      message("msg_turn1_0", "commentary", "Before."),
      functionCall("fc_turn1_1", "a", "{}"),
      message("msg_turn1_2", "commentary", "After."),
      functionCallOutput("fco_turn1_3", "a", "ok"),
      message("msg_turn1_4", "final_answer", "Done."),
    ]);
  });

  it("All text is commentary while the turn waits for a tool call", () => {
    const events = [
      assistant(0),
      call(0, 0, "a", "{}"),
      text(0, 1, "I asked."),
      messageEnd(0, "tool_use"),
      end({ outcome: "action-required", reason: "tool_use", openToolCallIds: ["a"] }),
    ];
    expect(response(events).items).toEqual([
      functionCall("fc_turn1_0", "a", "{}"),
      message("msg_turn1_1", "commentary", "I asked."),
    ]);
  });

  it("The text of a block without an end is read from its deltas", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      { type: "text.delta", message: 0, block: 0, text: "Hal" },
      { type: "text.delta", message: 0, block: 0, text: "f" },
      end(),
    ];
    expect(response(events).items).toEqual([
      { ...message("msg_turn1_0", "final_answer", "Half"), status: "incomplete" },
    ]);
  });
});

describe("Roles", () => {
  it("User text is a user message, separate from assistant text [SD-25]", () => {
    const events = [
      user(0),
      text(0, 0, "As I said."),
      messageEnd(0, "end_turn"),
      assistant(1),
      text(1, 1, "Noted."),
      messageEnd(1, "end_turn"),
      end(),
    ];
    expect(response(events).items).toEqual([
      {
        id: "msg_turn1_0",
        type: "message",
        status: "completed",
        role: "user",
        content: [{ type: "input_text", text: "As I said." }],
      },
      message("msg_turn1_1", "final_answer", "Noted."),
    ]);
  });

  it("Text of an unknown role is reported and belongs to no message [SD-25]", () => {
    const events: ProviderEvent[] = [
      { type: "message.start", message: 0, role: "other" },
      text(0, 0, "Psst."),
      text(7, 1, "No start."),
      messageEnd(7, "end_turn"),
      end(),
    ];
    expect(response(events)).toMatchObject({
      items: [],
      anomalies: [
        { code: "text_role_unknown", message: "The role of this text is unknown", text: "Psst." },
        {
          code: "text_role_unknown",
          message: "The role of this text is unknown",
          text: "No start.",
        },
      ],
    });
  });
});

describe("Tool calls and results", () => {
  it("A tool call or result without an id never becomes an item [SD-20]", () => {
    const events = [
      assistant(0),
      call(0, 0, "", '{"q":1}'),
      user(1),
      result(1, 1, "", "lost"),
      end(),
    ];
    expect(response(events)).toMatchObject({
      items: [],
      anomalies: [
        {
          code: "call_id_missing",
          message: "A tool call has no id",
          name: "search",
          arguments: '{"q":1}',
        },
        {
          code: "call_id_missing",
          message: "A result has no tool call id",
          output: "lost",
        },
      ],
    });
  });

  it("An empty result is distinguished from a missing result [SD-28]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      call(0, 0, "a", "{}"),
      call(0, 1, "b", "{}"),
      user(1),
      {
        type: "tool.result",
        message: 1,
        block: 2,
        result: { toolCallId: "a", parts: [], isError: false },
      },
      end({ outcome: "action-required", reason: "tool_use", openToolCallIds: ["b"] }),
    ];
    expect(response(events).items).toEqual([
      functionCall("fc_turn1_0", "a", "{}"),
      functionCall("fc_turn1_1", "b", "{}"),
      functionCallOutput("fco_turn1_2", "a", ""),
    ]);
  });

  it("A tool call without a result is reported unless the turn waits for it [SD-34]", () => {
    const events = [
      assistant(0),
      call(0, 0, "ours", "{}"),
      call(0, 1, "theirs", "{}"),
      end({ outcome: "action-required", reason: "tool_use", openToolCallIds: ["ours"] }),
    ];
    expect(response(events)).toMatchObject({
      items: [functionCall("fc_turn1_0", "ours", "{}"), functionCall("fc_turn1_1", "theirs", "{}")],
      anomalies: [
        {
          code: "call_unanswered",
          message: "A tool call has no result, and none is expected",
          call_id: "theirs",
        },
      ],
    });
  });

  it("A result without a tool call is reported and kept [SD-34]", () => {
    const events = [user(0), result(0, 0, "ghost", "boo"), end()];
    expect(response(events)).toMatchObject({
      items: [functionCallOutput("fco_turn1_0", "ghost", "boo")],
      anomalies: [
        { code: "result_unmatched", message: "A result has no tool call", call_id: "ghost" },
      ],
    });
  });

  it("An unknown open tool call is reported [SD-34]", () => {
    const events = [
      end({ outcome: "action-required", reason: "tool_use", openToolCallIds: ["ghost"] }),
    ];
    expect(response(events).anomalies).toEqual([
      {
        code: "open_call_unknown",
        message: "The turn waits for an unknown tool call",
        call_id: "ghost",
      },
    ]);
  });

  it("A repeated id becomes one item with the first position and the last content", () => {
    const events = [
      assistant(0),
      call(0, 0, "a", '{"q":1}'),
      text(0, 1, "Again."),
      call(0, 2, "a", '{"q":2}'),
      user(1),
      result(1, 3, "a", "two"),
      end(),
    ];
    expect(response(events)).toMatchObject({
      items: [
        functionCall("fc_turn1_0", "a", '{"q":2}'),
        message("msg_turn1_1", "commentary", "Again."),
        functionCallOutput("fco_turn1_3", "a", "two"),
      ],
      anomalies: [
        {
          code: "call_repeated",
          message: "A later tool call has the same id",
          call_id: "a",
          name: "search",
          arguments: '{"q":1}',
        },
      ],
    });
  });

  it("An old result does not answer a tool call reopened with the same id", () => {
    const events = [
      assistant(0),
      call(0, 0, "a", '{"q":1}'),
      user(1),
      result(1, 1, "a", "one"),
      assistant(2),
      call(2, 2, "a", '{"q":2}'),
      end({ outcome: "action-required", reason: "tool_use", openToolCallIds: ["a"] }),
    ];
    expect(response(events)).toMatchObject({
      items: [functionCall("fc_turn1_0", "a", '{"q":2}')],
      anomalies: [
        { code: "call_repeated", call_id: "a", arguments: '{"q":1}' },
        { code: "result_superseded", call_id: "a", output: "one" },
      ],
    });
  });
});

describe("Truncated turns", () => {
  it("The last message of a limited turn is incomplete [SD-31]", () => {
    const events = [
      assistant(0),
      text(0, 0, "Looking."),
      call(0, 1, "a", "{}"),
      messageEnd(0, "tool_use"),
      user(1),
      result(1, 2, "a", "ok"),
      messageEnd(1, "tool_result"),
      assistant(2),
      text(2, 3, "The answer is"),
      messageEnd(2, "max_tokens"),
      end({ outcome: "limited", reason: "max_tokens" }),
    ];
    expect(response(events)).toEqual({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      error: null,
      items: [
        message("msg_turn1_0", "commentary", "Looking."),
        functionCall("fc_turn1_1", "a", "{}"),
        functionCallOutput("fco_turn1_2", "a", "ok"),
        { ...message("msg_turn1_3", "final_answer", "The answer is"), status: "incomplete" },
      ],
      usage: null,
      anomalies: [],
    });
  });

  it("A finished reply is incomplete if the turn was stopped directly after it [SD-31]", () => {
    const events = [
      assistant(0),
      text(0, 0, "Now I will pay."),
      messageEnd(0, "end_turn"),
      end({ outcome: "limited", reason: "hook_stopped", stoppedBy: { hook: "budget-guard" } }),
    ];
    expect(response(events)).toEqual({
      status: "incomplete",
      incomplete_details: { reason: "hook_stopped", hook: { name: "budget-guard" } },
      error: null,
      items: [
        { ...message("msg_turn1_0", "final_answer", "Now I will pay."), status: "incomplete" },
      ],
      usage: null,
      anomalies: [],
    });
  });

  it("Earlier messages stay completed if the turn stopped after a result [SD-31]", () => {
    const events = [
      assistant(0),
      text(0, 0, "Looking."),
      call(0, 1, "a", "{}"),
      messageEnd(0, "tool_use"),
      user(1),
      result(1, 2, "a", "ok"),
      messageEnd(1, "tool_result"),
      end({ outcome: "limited", reason: "max_iterations_exceeded" }),
    ];
    expect(response(events).items).toEqual([
      message("msg_turn1_0", "commentary", "Looking."),
      functionCall("fc_turn1_1", "a", "{}"),
      functionCallOutput("fco_turn1_2", "a", "ok"),
    ]);
  });

  it("A failed turn keeps all partial items and marks truncated items [SD-32]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      text(0, 0, "Let me"),
      { type: "text.end", message: 0, block: 1, text: " look", implicitStop: true },
      {
        type: "tool.end",
        message: 0,
        block: 2,
        toolCall: createToolCall({ id: "a", name: "search", inputText: '{"q":', runBy: "client" }),
        implicitStop: true,
      },
      messageEnd(0, null),
      end({
        outcome: "failed",
        reason: null,
        failure: {
          code: "stream_exception",
          message: "Internal error",
          details: { name: "internalServerException" },
        },
      }),
    ];
    expect(response(events)).toEqual({
      status: "failed",
      incomplete_details: null,
      error: { code: "stream_exception", message: "Internal error" },
      items: [
        { ...message("msg_turn1_0", "commentary", "Let me", " look"), status: "incomplete" },
        { ...functionCall("fc_turn1_2", "a", '{"q":'), status: "incomplete" },
      ],
      usage: null,
      anomalies: [
        {
          code: "call_unanswered",
          message: "A tool call has no result, and none is expected",
          call_id: "a",
        },
      ],
    });
  });

  it("A finished message stays completed if the turn fails afterwards [SD-32]", () => {
    const events = [
      assistant(0),
      text(0, 0, "All done."),
      messageEnd(0, "end_turn"),
      end({
        outcome: "failed",
        reason: "end_turn",
        failure: { code: "stream_exception", message: "Internal error", details: {} },
      }),
    ];
    expect(response(events)).toMatchObject({
      status: "failed",
      items: [message("msg_turn1_0", "final_answer", "All done.")],
    });
  });

  it("A closed tool call stays completed if the stream breaks off afterwards [SD-32]", () => {
    const failure = { code: "truncated_stream", message: "Cut", details: {} } as const;
    const events = [
      assistant(0),
      call(0, 0, "a", "{}"),
      messageEnd(0, null),
      end({ outcome: "failed", reason: null, openToolCallIds: ["a"], failure }),
    ];
    expect(response(events)).toMatchObject({
      status: "failed",
      items: [functionCall("fc_turn1_0", "a", "{}")],
      anomalies: [],
    });
  });

  it("A tool call truncated before its arguments is incomplete, not empty [SD-30]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      { type: "tool.start", message: 0, block: 0, toolCallId: "a", name: "search" },
      call(0, 0, "a", ""),
      messageEnd(0, "max_tokens"),
      end({ outcome: "limited", reason: "max_tokens" }),
    ];
    expect(response(events).items).toEqual([
      { ...functionCall("fc_turn1_0", "a", ""), status: "incomplete" },
    ]);
  });

  it("A tool call without an end keeps its streamed arguments [SD-30]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      { type: "tool.start", message: 0, block: 0, toolCallId: "a", name: "search" },
      { type: "tool.delta", message: 0, block: 0, toolCallId: "a", text: '{"q"' },
      { type: "tool.delta", message: 0, block: 0, toolCallId: "a", text: ":" },
    ];
    expect(response(events)).toMatchObject({
      status: "failed",
      items: [{ ...functionCall("fc_turn1_0", "a", '{"q":'), status: "incomplete" }],
    });
  });

  it("A list of events without an end is a failed turn [SD-32]", () => {
    expect(response([assistant(0), text(0, 0, "Hello")])).toEqual({
      status: "failed",
      incomplete_details: null,
      error: { code: "incomplete_turn", message: "The stream stopped before the turn ended" },
      items: [{ ...message("msg_turn1_0", "final_answer", "Hello"), status: "incomplete" }],
      usage: null,
      anomalies: [],
    });
  });
});

describe("Replaced messages", () => {
  it("The replacement takes the position of the first text, and other texts are withdrawn", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      text(0, 0, "Secret."),
      call(0, 1, "a", "{}"),
      text(0, 2, "More secrets."),
      { type: "message.replaced", message: 0, text: "[removed]" },
      user(1),
      result(1, 3, "a", "ok"),
      assistant(2),
      text(2, 4, "Done."),
      end(),
    ];
    expect(response(events).items).toEqual([
      message("msg_turn1_0", "commentary", "[removed]"),
      functionCall("fc_turn1_1", "a", "{}"),
      functionCallOutput("fco_turn1_3", "a", "ok"),
      message("msg_turn1_4", "final_answer", "Done."),
    ]);
  });

  it("Withdrawn text does not reappear when its block ends later", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      { type: "text.delta", message: 0, block: 0, text: "Sec" },
      { type: "message.replaced", message: 0, text: "[removed]" },
      { type: "text.delta", message: 0, block: 0, text: "ret" },
      { type: "text.end", message: 0, block: 0, text: "Secret" },
      end(),
    ];
    expect(response(events).items).toEqual([message("msg_turn1_0", "final_answer", "[removed]")]);
  });

  it("A replacement of a message without text follows all earlier texts", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      text(0, 0, "First."),
      assistant(1),
      { type: "message.replaced", message: 1, text: "[removed]" },
      assistant(2),
      { type: "message.replaced", message: 2, text: "[also removed]" },
      text(2, 1, "Last."),
      end(),
    ];
    expect(response(events).items).toEqual([
      message("msg_turn1_0", "commentary", "First."),
      message("msg_turn1_m1", "commentary", "[removed]"),
      message("msg_turn1_m2", "final_answer", "[also removed]", "Last."),
    ]);
  });
});

describe("Options", () => {
  const reasoned = [assistant(0), thought(0, 0, "Hm."), text(0, 1, "Yes."), end()];

  it("rawReasoning adds the raw form of reasoning [SD-26]", () => {
    expect(encodeResponse(reasoned, { scope: SCOPE, rawReasoning: true }).items[0]).toEqual({
      id: "rs_turn1_0",
      type: "reasoning",
      status: "completed",
      summary: [{ type: "summary_text", text: "Hm." }],
      content: [{ type: "reasoning_text", text: "Hm." }],
    });
  });

  it('output "parts" returns a tool\'s output part by part [SD-28]', () => {
    const events = [assistant(0), call(0, 0, "a", "{}"), user(1), result(1, 1, "a", "ok"), end()];
    expect(encodeResponse(events, { scope: SCOPE, output: "parts" }).items[1]).toEqual({
      ...functionCallOutput("fco_turn1_1", "a", ""),
      output: [{ type: "input_text", text: "ok" }],
    });
  });

  it("A turn without text has no message unless emptyMessage is set [SD-34]", () => {
    const events = [assistant(0), text(0, 0, ""), messageEnd(0, "end_turn"), end()];
    expect(response(events).items).toEqual([]);
    expect(encodeResponse(events, { scope: SCOPE, emptyMessage: true }).items).toEqual([
      message("msg_turn1_end", "final_answer", ""),
    ]);
  });

  it("emptyMessage adds nothing to a turn with a message", () => {
    const events = [assistant(0), text(0, 0, "Hi."), end()];
    expect(encodeResponse(events, { scope: SCOPE, emptyMessage: true })).toEqual(response(events));
  });

  it("The empty message of a failed turn is incomplete [SD-34]", () => {
    expect(encodeResponse([], { scope: SCOPE, emptyMessage: true }).items).toEqual([
      { ...message("msg_turn1_end", "final_answer", ""), status: "incomplete" },
    ]);
  });

  it("Ids derive from scope and block only, so the same events yield the same ids [SD-34]", () => {
    const events = [assistant(0), text(0, 0, "Hi."), call(0, 1, "a", "{}"), end()];
    const ids = (scope: string): string[] =>
      encodeResponse(events, { scope }).items.map((item) => item.id);
    expect(ids("t1")).toEqual(["msg_t1_0", "fc_t1_1"]);
    expect(ids("t2")).toEqual(["msg_t2_0", "fc_t2_1"]);
  });

  it("One response is emitted at the end of the stream", () => {
    const codec = createResponseEncoder({ scope: SCOPE });
    const emitted: FinishedResponse[] = [];
    const state = codec.initial();
    for (const event of reasoned) codec.step(state, event, (out) => void emitted.push(out));
    expect(emitted).toEqual([]);
    expect(runCodec(codec, reasoned)).toEqual([response(reasoned)]);
  });
});

function response(events: readonly ProviderEvent[]): FinishedResponse {
  return encodeResponse(events, { scope: SCOPE });
}

function assistant(number: number): ProviderEvent {
  return { type: "message.start", message: number, role: "assistant" };
}

function user(number: number): ProviderEvent {
  return { type: "message.start", message: number, role: "user" };
}

function messageEnd(number: number, reason: string | null): ProviderEvent {
  return { type: "message.end", message: number, reason };
}

function text(number: number, block: number, content: string): ProviderEvent {
  return { type: "text.end", message: number, block, text: content };
}

function thought(number: number, block: number, content: string): ProviderEvent {
  return { type: "reasoning.end", message: number, block, text: content };
}

function call(number: number, block: number, id: string, inputText: string): ProviderEvent {
  const made = createToolCall({ id, name: "search", inputText, runBy: "client" });
  return { type: "tool.end", message: number, block, toolCall: made };
}

function result(number: number, block: number, toolCallId: string, content: string): ProviderEvent {
  const parts = [{ type: "text", text: content }] as const;
  return {
    type: "tool.result",
    message: number,
    block,
    result: { toolCallId, parts, isError: false },
  };
}

function end(facts: Partial<TurnEnd> = {}): ProviderEvent {
  return {
    type: "end",
    outcome: "completed",
    reason: "end_turn",
    openToolCallIds: [],
    usage: null,
    ...facts,
  };
}

function message(id: string, phase: string, ...texts: string[]): object {
  return {
    id,
    type: "message",
    status: "completed",
    role: "assistant",
    content: texts.map((content) => ({ type: "output_text", text: content, annotations: [] })),
    phase,
  };
}

function functionCall(id: string, call_id: string, input: string): object {
  return {
    id,
    type: "function_call",
    call_id,
    name: "search",
    arguments: input,
    status: "completed",
  };
}

function functionCallOutput(id: string, call_id: string, output: string): object {
  return { id, type: "function_call_output", call_id, output, status: "completed" };
}
