import { describe, expect, it } from "vitest";
import {
  expectOneEndWhenDamaged,
  expectSameForAnySplit,
} from "../../../test/support/bytes/response-bytes.ts";
import { encodeServerSent } from "../../../test/support/bytes/encode-server-sent.ts";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { buildTurn, type Turn } from "../../domain/provider/turn.ts";
import { createSseResponseCodec } from "../../models/sse-response.ts";
import { createMessagesFold } from "./fold.ts";
import { allowLongTests } from "../../../test/support/test-depth.ts";

allowLongTests();

const codec = createSseResponseCodec(createMessagesFold(), "text/event-stream; charset=utf-8");

const start = {
  type: "message_start",
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    content: [],
    model: "claude-opus-4-1",
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 25,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 3,
      output_tokens: 1,
      service_tier: "standard",
    },
  },
};
const ping = { type: "ping" };
const stop = { type: "message_stop" };

function open(index: number, content_block: object): object {
  return { type: "content_block_start", index, content_block };
}

function delta(index: number, type: string, more: object): object {
  return { type: "content_block_delta", index, delta: { type, ...more } };
}

function close(index: number): object {
  return { type: "content_block_stop", index };
}

function reason(stop_reason: string | null, output_tokens = 15): object {
  return {
    type: "message_delta",
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens },
  };
}

function events(...sent: readonly (string | object)[]): ProviderEvent[] {
  return runCodec(codec, [encodeServerSent(...sent)]);
}

function turn(...sent: readonly (string | object)[]): Turn {
  return buildTurn(events(...sent));
}

function blocksOf(turned: Turn): unknown {
  return turned.messages[0]?.blocks;
}

const textEvents = [
  start,
  open(0, { type: "text", text: "" }),
  ping,
  delta(0, "text_delta", { text: "Grüße" }),
  delta(0, "text_delta", { text: " 🌍" }),
  close(0),
];

describe("Folding a response of the Messages API", () => {
  it("A response becomes a message with its text, reason and tokens", () => {
    const usage = {
      inputTokens: 25,
      outputTokens: 15,
      cacheReadTokens: 7,
      cacheWriteTokens: 3,
      totalTokens: 50,
    };
    expect(events(...textEvents, reason("end_turn"), stop)).toEqual([
      { type: "message.start", message: 0, role: "assistant" },
      { type: "text.delta", message: 0, block: 0, text: "Grüße" },
      { type: "text.delta", message: 0, block: 0, text: " 🌍" },
      { type: "text.end", message: 0, block: 0, text: "Grüße 🌍" },
      { type: "message.end", message: 0, reason: "end_turn" },
      { type: "usage", usage },
      { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage },
    ]);
  });

  it("Thinking keeps its signature and redacted content", () => {
    const turned = turn(
      start,
      open(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, "thinking_delta", { thinking: "27 * 453" }),
      delta(0, "signature_delta", { signature: "EqQBCgIYAhIM" }),
      close(0),
      open(1, { type: "redacted_thinking", data: "EmwKAhgBEgy3va3pzix" }),
      close(1),
      open(2, { type: "text", text: "12" }),
      delta(2, "text_delta", { text: "231" }),
      close(2),
      reason("end_turn"),
      stop,
    );
    expect(blocksOf(turned)).toEqual([
      { type: "reasoning", text: "27 * 453", signature: "EqQBCgIYAhIM" },
      { type: "reasoning", text: "", redacted: "EmwKAhgBEgy3va3pzix" },
      { type: "text", text: "12231" },
    ]);
    expect(turned.diagnostics).toEqual([]);
  });

  it("Tool calls are read from their start and deltas", () => {
    const turned = turn(
      ...textEvents,
      open(1, { type: "tool_use", id: "toolu_1", name: "get_weather", input: {} }),
      delta(1, "input_json_delta", { partial_json: "" }),
      delta(1, "input_json_delta", { partial_json: '{"location":' }),
      delta(1, "input_json_delta", { partial_json: ' "San Francisco, CA"}' }),
      close(1),
      open(2, { type: "tool_use", id: "toolu_2", name: "now", input: {} }),
      close(2),
      open(3, { type: "tool_use", id: "toolu_3", name: "at_once", input: { whole: true } }),
      close(3),
      reason("tool_use"),
      stop,
    );
    expect(turned.toolCalls.map(({ id, name, input }) => [id, name, input])).toEqual([
      ["toolu_1", "get_weather", { location: "San Francisco, CA" }],
      ["toolu_2", "now", {}],
      ["toolu_3", "at_once", { whole: true }],
    ]);
    expect(turned).toMatchObject({ end: { outcome: "action-required" }, diagnostics: [] });
  });

  it("Tools run by Anthropic appear with their results", () => {
    const found = [{ type: "web_search_result", title: "Zürich", url: "https://zuerich.ch" }];
    const error = { type: "web_search_tool_result_error", error_code: "max_uses_exceeded" };
    const turned = turn(
      start,
      open(0, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      delta(0, "input_json_delta", { partial_json: '{"query":"Zürich"}' }),
      close(0),
      open(1, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: found }),
      close(1),
      open(2, { type: "server_tool_use", id: "srvtoolu_2", name: "web_search", input: {} }),
      close(2),
      open(3, { type: "web_search_tool_result", tool_use_id: "srvtoolu_2", content: error }),
      close(3),
      open(4, {
        type: "mcp_tool_use",
        id: "mcptoolu_1",
        name: "echo",
        server_name: "example",
        input: { text: "hi" },
      }),
      close(4),
      open(5, {
        type: "mcp_tool_result",
        tool_use_id: "mcptoolu_1",
        is_error: false,
        content: [{ type: "text", text: "hi" }],
      }),
      close(5),
      open(6, { type: "text", text: "" }),
      delta(6, "citations_delta", { citation: { url: "https://zuerich.ch" } }),
      delta(6, "text_delta", { text: "Done." }),
      close(6),
      reason("end_turn"),
      stop,
    );
    expect(
      turned.serverToolCalls.map(({ toolCall, result }) => [
        toolCall.name,
        toolCall.input,
        toolCall.server,
        result,
      ]),
    ).toEqual([
      [
        "web_search",
        { query: "Zürich" },
        undefined,
        { toolCallId: "srvtoolu_1", parts: [{ type: "json", value: found[0] }], isError: false },
      ],
      [
        "web_search",
        {},
        undefined,
        { toolCallId: "srvtoolu_2", parts: [{ type: "json", value: error }], isError: true },
      ],
      [
        "echo",
        { text: "hi" },
        "example",
        { toolCallId: "mcptoolu_1", parts: [{ type: "text", text: "hi" }], isError: false },
      ],
    ]);
    expect(turned).toMatchObject({
      text: "Done.",
      toolCalls: [],
      end: { outcome: "completed" },
      unknown: [{ what: "delta", name: "citations_delta" }],
    });
  });

  it.each([
    ["max_tokens", "limited"],
    ["pause_turn", "limited"],
    ["refusal", "limited"],
    ["model_context_window_exceeded", "limited"],
    ["stop_sequence", "completed"],
    ["something_new", "other"],
  ])("A response that stops for %s is %s", (input, outcome) => {
    expect(turn(...textEvents, reason(input), stop).end).toMatchObject({ outcome, reason: input });
  });

  it("An error event fails the turn and keeps the text before", () => {
    const error = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    expect(turn(...textEvents, error)).toMatchObject({
      text: "Grüße 🌍",
      usage: { inputTokens: 25, outputTokens: 1 },
      end: {
        outcome: "failed",
        failure: {
          code: "stream_exception",
          message: "overloaded_error: Overloaded",
          details: { type: "overloaded_error" },
        },
      },
    });
  });

  it("A response without a stop reason fails, even after message_stop", () => {
    const failed = { outcome: "failed", failure: { code: "incomplete_turn" } };
    expect(turn(...textEvents).end).toMatchObject(failed);
    expect(turn(...textEvents, stop).end).toMatchObject(failed);
    expect(turn(...textEvents, reason(null), stop).end).toMatchObject(failed);
  });

  it("Unknown events, blocks and fields are kept", () => {
    const turned = turn(
      start,
      { type: "weather", rain: true },
      open(0, { type: "hologram", depth: 3 }),
      delta(0, "beam", { angle: 1 }),
      close(0),
      { type: "message_delta", delta: { stop_reason: "end_turn", container: { id: "c" } } },
      stop,
    );
    expect(turned.unknown.map(({ what, name }) => [what, name])).toEqual([
      ["event", "weather"],
      ["start", "hologram"],
      ["delta", "beam"],
      ["field", "message_delta.container"],
    ]);
    expect(turned.end).toMatchObject({ outcome: "completed" });
  });

  it("An unreadable event fails the turn unless the message has ended", () => {
    expect(turn(...textEvents, "{", reason("end_turn"), stop).end).toMatchObject({
      failure: { code: "malformed_event" },
    });
    expect(turn(...textEvents, reason("end_turn"), "{").end).toMatchObject({
      outcome: "completed",
    });
  });
});

describe("The bytes of a Messages API response", () => {
  const answer = encodeServerSent(
    ...textEvents,
    open(1, { type: "thinking", thinking: "", signature: "" }),
    delta(1, "signature_delta", { signature: "sig" }),
    close(1),
    open(2, { type: "tool_use", id: "A", name: "look", input: {} }),
    delta(2, "input_json_delta", { partial_json: '{"at":"Zürich"}' }),
    close(2),
    reason("tool_use"),
    stop,
  );

  it("Every two-way split and single bytes yield the same events", () => {
    expectSameForAnySplit(codec, answer);
  });

  it("Mutated bytes never cause a throw and end once", () => {
    expectOneEndWhenDamaged(codec, answer);
  });
});
