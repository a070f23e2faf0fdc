import { describe, expect, it } from "vitest";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import { type Usage } from "../../domain/usage.ts";
import { createAigoEncoder, type AigoOptions, encodeAigoOutput } from "./aigo-output.ts";

const SESSION = "550e8400-e29b-41d4-a716-446655440000";
const OPTIONS: AigoOptions = { scope: "turn1", sessionId: SESSION };

const SEARCH_TURN: readonly ProviderEvent[] = [
  { type: "message.start", message: 0, role: "assistant" },
  { type: "tool.start", message: 0, block: 0, toolCallId: "tooluse_01", name: "search_products" },
  { type: "tool.delta", message: 0, block: 0, toolCallId: "tooluse_01", text: '{"query": ' },
  { type: "tool.delta", message: 0, block: 0, toolCallId: "tooluse_01", text: '"shoes"}' },
  call(0, 0, "tooluse_01", '{"query": "shoes"}'),
  { type: "message.end", message: 0, reason: "tool_use" },
  { type: "message.start", message: 1, role: "user" },
  result(1, 1, "tooluse_01", "[]"),
  { type: "message.end", message: 1, reason: "end_turn" },
  { type: "message.start", message: 2, role: "assistant" },
  { type: "text.delta", message: 2, block: 2, text: "I couldn't find any shoes..." },
  text(2, 2, "I couldn't find any shoes..."),
  { type: "message.end", message: 2, reason: "end_turn" },
  { type: "usage", usage: tokens(201, 22) },
  end({ usage: tokens(201, 22) }),
];

const SEARCH_OUTPUT = {
  items: [
    {
      id: "fc_turn1_0",
      type: "function_call",
      call_id: "tooluse_01",
      name: "search_products",
      arguments: '{"query": "shoes"}',
      status: "completed",
    },
    {
      id: "fco_turn1_1",
      type: "function_call_output",
      call_id: "tooluse_01",
      output: "[]",
      status: "completed",
    },
    {
      id: "msg_turn1_end",
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "I couldn't find any shoes...", annotations: [] }],
      session_id: SESSION,
    },
  ],
  usage: { num_prompt_tokens: 201, num_completion_tokens: 22 },
};

describe("AI GO! output", () => {
  it("The output is the trace of one turn with the reply last", () => {
    expect(encodeAigoOutput(SEARCH_TURN, OPTIONS)).toEqual(SEARCH_OUTPUT);
  });

  it("The same events yield the same output and ids, also one at a time [SD-34]", () => {
    expect(runCodec(createAigoEncoder(OPTIONS), SEARCH_TURN)).toEqual([SEARCH_OUTPUT]);
  });

  it("Texts are joined with a blank line, and the trace keeps their position [SD-29]", () => {
    const events = [
      assistant(0),
      text(0, 0, "Let me check."),
      call(0, 1, "a", "{}"),
      user(1),
      result(1, 2, "a", "ok"),
      assistant(2),
      text(2, 3, "Done."),
      end(),
    ];
    expect(encodeAigoOutput(events, OPTIONS)).toEqual({
      items: [
        functionCall("fc_turn1_1", "a"),
        functionCallOutput("fco_turn1_2", "a", "ok"),
        {
          ...reply("Let me check.\n\nDone."),
          trace: [
            { type: "text", text: "Let me check." },
            { type: "item", id: "fc_turn1_1" },
            { type: "item", id: "fco_turn1_2" },
            { type: "text", text: "Done." },
          ],
        },
      ],
      usage: { num_prompt_tokens: 0, num_completion_tokens: 0 },
    });
  });

  it("A turn without text has one message, which carries the session [SD-34]", () => {
    const events = [
      assistant(0),
      call(0, 0, "a", "{}"),
      end({ outcome: "action-required", reason: "tool_use", openToolCallIds: ["a"] }),
    ];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      functionCall("fc_turn1_0", "a"),
      reply(""),
    ]);
  });

  it("Cached tokens count as prompt tokens [SD-33]", () => {
    const usage = { ...tokens(100, 7), cacheReadTokens: 30, cacheWriteTokens: 5 };
    expect(encodeAigoOutput([end({ usage })], OPTIONS).usage).toEqual({
      num_prompt_tokens: 135,
      num_completion_tokens: 7,
    });
  });

  it("Reasoning is neither in the items nor in the trace of the message [SD-26]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      { type: "reasoning.end", message: 0, block: 0, text: "Hm." },
      text(0, 1, "Let me see."),
      { type: "reasoning.end", message: 0, block: 2, text: "So." },
      text(0, 3, "Yes."),
      end(),
    ];
    const trace = [
      { type: "text", text: "Let me see." },
      { type: "text", text: "Yes." },
    ];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      { ...reply("Let me see.\n\nYes."), trace },
    ]);
  });

  it("The message of a limited turn has the limit [SD-31]", () => {
    const events = [
      assistant(0),
      text(0, 0, "The answer is"),
      end({ outcome: "limited", reason: "max_tokens" }),
    ];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      {
        ...reply("The answer is"),
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
      },
    ]);
  });

  it("The message of a failed turn has the error, and earlier items are kept [SD-32]", () => {
    const failure = { code: "stream_exception", message: "Internal error", details: {} } as const;
    const events = [
      assistant(0),
      call(0, 0, "a", "{}"),
      { type: "message.end", message: 0, reason: "tool_use" } as const,
      user(1),
      result(1, 1, "a", "ok"),
      end({ outcome: "failed", reason: null, failure }),
    ];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      functionCall("fc_turn1_0", "a"),
      functionCallOutput("fco_turn1_1", "a", "ok"),
      {
        ...reply(""),
        status: "incomplete",
        error: { code: "stream_exception", message: "Internal error" },
      },
    ]);
  });

  it("A failed tool is marked as failed [SD-27]", () => {
    const events: ProviderEvent[] = [
      assistant(0),
      call(0, 0, "a", "{}"),
      user(1),
      {
        type: "tool.result",
        message: 1,
        block: 1,
        result: { toolCallId: "a", parts: [{ type: "text", text: "No stock" }], isError: true },
      },
      assistant(2),
      text(2, 2, "Sorry."),
      end(),
    ];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      functionCall("fc_turn1_0", "a"),
      {
        ...functionCallOutput("fco_turn1_1", "a", "No stock"),
        is_error: true,
        error: "No stock",
      },
      reply("Sorry."),
    ]);
  });

  it("Text of the user is reported as an anomaly and is not part of the reply [SD-25]", () => {
    const events = [user(0), text(0, 0, "As I said."), assistant(1), text(1, 1, "Noted."), end()];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      {
        ...reply("Noted."),
        anomalies: [
          {
            code: "text_from_user",
            message: "The stream carries text of the user",
            text: "As I said.",
          },
        ],
      },
    ]);
  });

  it("A tool call without a result is reported if no result is awaited [SD-34]", () => {
    const events = [assistant(0), call(0, 0, "a", "{}"), end()];
    expect(encodeAigoOutput(events, OPTIONS).items).toEqual([
      functionCall("fc_turn1_0", "a"),
      {
        ...reply(""),
        anomalies: [
          {
            code: "call_unanswered",
            message: "A tool call has no result, and none is expected",
            call_id: "a",
          },
        ],
      },
    ]);
  });
});

function assistant(message: number): ProviderEvent {
  return { type: "message.start", message, role: "assistant" };
}

function user(message: number): ProviderEvent {
  return { type: "message.start", message, role: "user" };
}

function text(message: number, block: number, content: string): ProviderEvent {
  return { type: "text.end", message, block, text: content };
}

function call(message: number, block: number, id: string, inputText: string): ProviderEvent {
  const made = createToolCall({ id, name: "search_products", inputText, runBy: "server" });
  return { type: "tool.end", message, block, toolCall: made };
}

function result(
  message: number,
  block: number,
  toolCallId: string,
  content: string,
): ProviderEvent {
  const parts = [{ type: "text", text: content }] as const;
  return { type: "tool.result", message, block, result: { toolCallId, parts, isError: false } };
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

function tokens(inputTokens: number, outputTokens: number): Usage {
  const totalTokens = inputTokens + outputTokens;
  return { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, totalTokens };
}

function functionCall(id: string, call_id: string): object {
  return {
    id,
    type: "function_call",
    call_id,
    name: "search_products",
    arguments: "{}",
    status: "completed",
  };
}

function functionCallOutput(id: string, call_id: string, output: string): object {
  return { id, type: "function_call_output", call_id, output, status: "completed" };
}

function reply(content: string): object {
  return {
    id: "msg_turn1_end",
    type: "message",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text: content, annotations: [] }],
    session_id: SESSION,
  };
}
