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
import { createChatFold } from "./fold.ts";
import { allowLongTests } from "../../../test/support/test-depth.ts";

allowLongTests();

const codec = createSseResponseCodec(createChatFold(), "text/event-stream");

function chunk(delta: object, reason: string | null = null): object {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: reason }];
  return { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices };
}

function calls(...entries: readonly object[]): object {
  return chunk({ tool_calls: entries });
}

function entry(index: number | undefined, id: string | undefined, name: string, input: unknown) {
  return {
    ...(index !== undefined && { index }),
    ...(id !== undefined && { id }),
    type: "function",
    function: { ...(name !== "" && { name }), arguments: input },
  };
}

const start = chunk({ role: "assistant", content: "" });
const usage = {
  id: "chatcmpl-1",
  choices: [],
  usage: {
    prompt_tokens: 10,
    completion_tokens: 4,
    total_tokens: 14,
    prompt_tokens_details: { cached_tokens: 6 },
  },
};

const usageChunk = {
  inputTokens: 4,
  outputTokens: 4,
  cacheReadTokens: 6,
  cacheWriteTokens: 0,
  totalTokens: 14,
};

function events(...sent: readonly (string | object)[]): ProviderEvent[] {
  return runCodec(codec, [encodeServerSent(...sent)]);
}

function turn(...sent: readonly (string | object)[]): Turn {
  return buildTurn(events(...sent));
}

function codes({ diagnostics }: Turn): string[] {
  return diagnostics.map(({ code }) => code);
}

/** Asserts complete tool calls with the given inputs. */
function expectCalls(turned: Turn, ...inputs: readonly object[]): void {
  expect(turned.toolCalls.map(({ input }) => input)).toEqual(inputs);
  expect(turned.end).toMatchObject({ outcome: "action-required" });
}

describe("Folding a chat completion", () => {
  it("A completion becomes a message with its text, reason and tokens", () => {
    expect(
      events(
        start,
        chunk({ content: "Grüße " }),
        chunk({ content: "🌍" }),
        chunk({}, "stop"),
        usage,
        "[DONE]",
      ),
    ).toEqual([
      { type: "message.start", message: 0, role: "assistant" },
      { type: "text.delta", message: 0, block: 0, text: "Grüße " },
      { type: "text.delta", message: 0, block: 0, text: "🌍" },
      { type: "text.end", message: 0, block: 0, text: "Grüße 🌍" },
      { type: "message.end", message: 0, reason: "stop" },
      {
        type: "usage",
        usage: usageChunk,
      },
      {
        type: "end",
        outcome: "completed",
        reason: "stop",
        openToolCallIds: [],
        usage: usageChunk,
      },
    ]);
  });

  it.each(["reasoning", "reasoning_content", "thinking"])(
    "Reasoning is read from the field %s",
    (member) => {
      const turned = turn(start, chunk({ [member]: "hm" }), chunk({ content: "yes" }, "stop"));
      expect(turned.messages[0]?.blocks).toEqual([
        { type: "reasoning", text: "hm" },
        { type: "text", text: "yes" },
      ]);
    },
  );

  it("Reasoning repeated in two fields is emitted once", () => {
    const turned = turn(chunk({ reasoning: "hm", reasoning_content: "hm" }), chunk({}, "stop"));
    expect(turned.messages[0]?.blocks).toEqual([{ type: "reasoning", text: "hm" }]);
  });

  it("Content may arrive in parts, as from Mistral", () => {
    const thinking = { type: "thinking", thinking: [{ type: "text", text: "hm" }] };
    const turned = turn(
      chunk({ content: [thinking, { type: "text", text: "yes" }, { type: "image" }] }, "stop"),
    );
    expect(turned.messages[0]?.blocks).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "yes" },
    ]);
    expect(turned.unknown).toMatchObject([{ what: "delta", raw: { type: "image" } }]);
  });

  it("A completion may arrive complete in one chunk", () => {
    const choices = [
      { index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" },
    ];
    expect(turn({ choices })).toMatchObject({ text: "hi", end: { outcome: "completed" } });
  });

  it("A refusal is limited and shows its text", () => {
    const turned = turn(
      start,
      chunk({ refusal: "I can" }),
      chunk({ refusal: "not" }),
      chunk({}, "stop"),
    );
    expect(turned).toMatchObject({
      text: "I cannot",
      end: { outcome: "limited", reason: "refusal" },
    });
  });

  it.each([
    ["length", "limited"],
    ["content_filter", "limited"],
    ["insufficient_system_resource", "failed"],
    ["something_new", "other"],
  ])("A completion that stops for %s is %s", (reason, outcome) => {
    expect(turn(start, chunk({ content: "a" }, reason)).end).toMatchObject({ outcome, reason });
  });

  it("An empty reason does not end a completion, as in old versions of Ollama", () => {
    const turned = turn(
      chunk({ content: "a" }, ""),
      chunk({ content: "b" }, ""),
      chunk({}, "stop"),
    );
    expect(turned).toMatchObject({ text: "ab", end: { outcome: "completed" }, diagnostics: [] });
  });

  it("A completion without its reason fails, with or without [DONE]", () => {
    const failed = { outcome: "failed", failure: { code: "incomplete_turn" } };
    expect(turn(start, chunk({ content: "a" })).end).toMatchObject(failed);
    expect(turn(start, chunk({ content: "a" }), "[DONE]").end).toMatchObject(failed);
    expect(turn().end).toMatchObject(failed);
  });

  it("A completion with its reason is complete, whatever is missing afterwards", () => {
    const whole = encodeServerSent(start, chunk({ content: "a" }, "stop"));
    const cut = new TextEncoder().encode('data: {"id":');
    expect(buildTurn(runCodec(codec, [whole, cut]))).toMatchObject({
      text: "a",
      end: { outcome: "completed" },
      diagnostics: [{ code: "content_lost" }],
    });
    const garbage = turn(start, chunk({ content: "a" }, "stop"), "{");
    expect(garbage).toMatchObject({ end: { outcome: "completed" } });
    expect(codes(garbage)).toEqual(["malformed_event"]);
  });

  it("An unreadable chunk fails the turn", () => {
    for (const sent of ["{", "null", '"hello"'])
      expect(turn(start, sent, chunk({}, "stop")).end).toMatchObject({
        outcome: "failed",
        failure: { code: "malformed_event" },
      });
  });

  it("The last usage report wins, and a second reason is ignored", () => {
    const running = { choices: [], usage: { prompt_tokens: 10, completion_tokens: 1 } };
    const turned = turn(
      start,
      running,
      chunk({ content: "a" }, "stop"),
      chunk({ content: "" }, "stop"),
      usage,
    );
    expect(turned.usage).toMatchObject({ outputTokens: 4, totalTokens: 14 });
    expect(turned.diagnostics).toEqual([]);
  });

  it("A usage field that is not a number is reported", () => {
    const turned = turn(start, chunk({}, "stop"), { choices: [], usage: { prompt_tokens: "x" } });
    expect(codes(turned)).toEqual(["usage_invalid"]);
  });

  it.each([
    ["an object", { error: { message: "No memory", type: "server_error", code: null } }],
    ["a text", { error: "No memory" }],
    ["vLLM's", { object: "error", message: "No memory", type: "InternalServerError", code: 500 }],
  ])("An error as %s fails the turn and keeps the text before", (_, error) => {
    const turned = turn(start, chunk({ content: "a" }), error, "[DONE]");
    expect(turned.text).toBe("a");
    expect(turned.end).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message: expect.stringContaining("No memory") },
    });
  });

  it("A failed turn keeps its usage", () => {
    const turned = turn(start, usage, { error: { message: "x" } });
    expect(turned).toMatchObject({
      usage: { outputTokens: 4 },
      diagnostics: [{ code: "message_stop_missing" }],
    });
  });

  it("Unknown fields are kept once, and only if they are not empty", () => {
    const odd = {
      ...chunk({ content: "a", audio: null, annotations: [], mood: "good" }),
      timings: 1,
    };
    const turned = turn(start, odd, odd, chunk({}, "stop"));
    expect(turned.unknown.map(({ name, raw }) => [name, raw])).toEqual([
      ["chunk.timings", 1],
      ["delta.mood", "good"],
    ]);
  });

  it("A second choice and an object of another kind are kept separately", () => {
    const second = { choices: [{ index: 1, delta: { content: "b" } }] };
    const turned = turn(
      start,
      second,
      { object: "weather", rain: true },
      chunk({ content: "a" }, "stop"),
    );
    expect(turned.text).toBe("a");
    expect(turned.unknown.map(({ name }) => name)).toEqual(["choice", "weather"]);
  });

  it("A turn stops growing at its limit", () => {
    const small = createSseResponseCodec(
      createChatFold({ maxCharacters: 1000 }),
      "text/event-stream",
    );
    const nameless = Array.from({ length: 50 }, () =>
      calls(entry(0, undefined, "", "x".repeat(100))),
    );
    for (const sent of [
      nameless,
      Array.from({ length: 50 }, () => chunk({ content: "x".repeat(100) })),
    ])
      expect(
        runCodec(small, [encodeServerSent(start, ...sent, chunk({}, "stop"))]).at(-1),
      ).toMatchObject({
        failure: { code: "turn_too_large" },
      });
  });
});

describe("Tool calls of a chat completion", () => {
  it("Tool calls arrive in fragments by index, with the id in the first fragment", () => {
    const turned = turn(
      start,
      chunk({ content: "Let me look." }),
      calls(entry(0, "call_A", "look", "")),
      calls(entry(0, undefined, "", '{"at":')),
      calls(entry(1, "call_B", "hear", "")),
      calls(entry(0, undefined, "", "1}"), entry(1, undefined, "", "{}")),
      chunk({}, "tool_calls"),
      usage,
      "[DONE]",
    );
    expectCalls(turned, { at: 1 }, {});
    expect(turned.toolCalls.map(({ id, name }) => [id, name])).toEqual([
      ["call_A", "look"],
      ["call_B", "hear"],
    ]);
    expect(turned.diagnostics).toEqual([]);
  });

  it("The id and the name may be repeated in every chunk", () => {
    const turned = turn(
      start,
      calls(entry(0, "A", "look", '{"at"')),
      calls(entry(0, "A", "look", ":1}")),
      chunk({}, "tool_calls"),
    );
    expectCalls(turned, { at: 1 });
  });

  it("All tool calls may have the index 0, as from Ollama", () => {
    const turned = turn(
      start,
      calls(entry(0, "A", "look", '{"at":1}')),
      calls(entry(0, "B", "look", '{"at":2}')),
      chunk({}, "tool_calls"),
    );
    expectCalls(turned, { at: 1 }, { at: 2 });
  });

  it("Tool calls may have no index", () => {
    const turned = turn(
      start,
      calls(entry(undefined, "A", "look", '{"at":'), entry(undefined, "B", "look", "")),
      calls(entry(undefined, undefined, "", '{"at":2}')),
      calls(entry(undefined, "A", "", "1}")),
      chunk({}, "tool_calls"),
    );
    expectCalls(turned, { at: 1 }, { at: 2 });
  });

  it("A tool call may arrive complete, with parsed arguments", () => {
    const turned = turn(calls(entry(0, "A", "look", { at: 1 })), chunk({}, "tool_calls"));
    expectCalls(turned, { at: 1 });
  });

  it("Tool calls without an id get generated ids, unique per response", () => {
    const turned = turn(
      start,
      calls(entry(0, "", "look", '{"at":1}')),
      calls(entry(0, undefined, "look", '{"at":2}')),
      calls(entry(undefined, undefined, "hear", "{}")),
      chunk({}, "tool_calls"),
    );
    expectCalls(turned, { at: 1 }, { at: 2 }, {});
    expect(turned.toolCalls.map(({ id }) => id)).toEqual([
      "chatcmpl-1-call-0",
      "chatcmpl-1-call-1",
      "chatcmpl-1-call-2",
    ]);
    expect(codes(turned)).toEqual(["tool_id_missing", "tool_id_missing", "tool_id_missing"]);
  });

  it("A tool call may receive its name or id late", () => {
    const turned = turn(
      calls({ index: 0, id: "A", function: { arguments: '{"at"' } }),
      calls({ index: 1, function: { name: "hear" } }),
      calls(entry(0, undefined, "look", ":1}")),
      calls({ index: 1, id: "B", function: {} }),
      chunk({}, "tool_calls"),
    );
    expectCalls(turned, { at: 1 }, {});
    expect(turned.toolCalls.map(({ name }) => name)).toEqual(["look", "hear"]);
  });

  it("Tool calls are open although the reason is stop", () => {
    const turned = turn(start, calls(entry(0, "A", "look", "{}")), chunk({}, "stop"));
    expectCalls(turned, {});
    expect(codes(turned)).toEqual(["stop_reason_contradicted"]);
  });

  it("Truncated tool calls are not open", () => {
    for (const reason of [undefined, "length"]) {
      const turned = turn(
        start,
        calls(entry(0, "A", "look", '{"at"'), { index: 1, function: { name: "hear" } }),
        ...(reason === undefined ? [] : [chunk({}, reason)]),
      );
      expect(turned.toolCalls).toEqual([]);
      expect(turned.messages[0]?.blocks).toHaveLength(2);
    }
  });

  it("Tool calls of another type are kept unchanged", () => {
    const custom = { index: 0, id: "A", type: "custom", custom: { name: "x", input: "y" } };
    expect(turn(start, calls(custom), chunk({}, "stop")).unknown).toMatchObject([{ raw: custom }]);
  });

  it("Text before and after a tool call becomes separate blocks", () => {
    const turned = turn(
      chunk({ content: "a" }),
      calls(entry(0, "A", "look", "{}")),
      chunk({ content: "b" }, "tool_calls"),
    );
    expect(turned.messages[0]?.blocks.map(({ type }) => type)).toEqual([
      "text",
      "tool-call",
      "text",
    ]);
  });
});

describe("The bytes of a chat completion", () => {
  const answer = encodeServerSent(
    start,
    chunk({ reasoning: "hm 🤔" }),
    chunk({ content: "Grüße" }),
    calls(entry(0, "A", "look", '{"at":'), entry(1, "B", "look", "")),
    calls(entry(0, undefined, "", '"Zürich"}')),
    chunk({}, "tool_calls"),
    usage,
    "[DONE]",
  );

  it("Every two-way split and single bytes yield the same events", () => {
    expectSameForAnySplit(codec, answer);
  });

  it("A stream truncated before the reason never succeeds", () => {
    const text = new TextDecoder().decode(answer);
    const end = text.indexOf('"tool_calls"}]');
    const bytes = new TextEncoder().encode(text.slice(0, end)).length;
    for (let length = 0; length < bytes; length++)
      expect(runCodec(codec, [answer.subarray(0, length)]).at(-1)).toMatchObject({
        outcome: "failed",
        openToolCallIds: [],
      });
  });

  it("Mutated bytes never cause a throw and end once", () => {
    expectOneEndWhenDamaged(codec, answer);
  });

  it("A body of another content type is quoted in the failure", () => {
    const other = createSseResponseCodec(createChatFold(), "text/html; charset=utf-8");
    expect(runCodec(other, [new TextEncoder().encode("<h1>Sign in</h1>")]).at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "unexpected_content_type", details: { body: "<h1>Sign in</h1>" } },
    });
  });
});
