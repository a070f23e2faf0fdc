import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider-event.ts";
import type { StreamMessage } from "../../domain/stream-message.ts";
import { toolCall } from "../../domain/tool.ts";
import { chatFold } from "../chat/fold.ts";
import { converseEncoder, type CallRunner, type ConverseMember } from "./encode.ts";
import { converseFold } from "./fold.ts";

function fold(messages: Iterable<StreamMessage>): ProviderEvent[] {
  return runCodec(converseFold(), messages);
}

function encoded(events: readonly ProviderEvent[]): ConverseMember[] {
  const runners = new Map<string, CallRunner>();
  for (const event of events) if (event.type === "tool.end") runners.set(event.call.id, event.call);
  const runnerOf = ({ id }: { readonly id: string }): CallRunner =>
    runners.get(id) ?? { runBy: "client" };
  return runCodec(converseEncoder({ runnerOf }), events);
}

/** Events about the stream itself are not written. */
function ofTheStream(events: readonly ProviderEvent[]): ProviderEvent[] {
  return events.filter(({ type }) => type !== "diagnostic" && type !== "unknown");
}

const words = fc.string({ unit: "binary", maxLength: 8 }).map((text) => text.toWellFormed());
const json = fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 1 }));
const input = json.map((value) => JSON.stringify(value));

interface Named {
  readonly name: string;
  readonly payload: object;
}

function delta(contentBlockIndex: number, given: object): Named {
  return { name: "contentBlockDelta", payload: { contentBlockIndex, delta: given } };
}

function start(contentBlockIndex: number, given: object): Named {
  return { name: "contentBlockStart", payload: { contentBlockIndex, start: given } };
}

type Block = (index: number, id: string) => Named[];

const block: fc.Arbitrary<Block> = fc.oneof(
  fc.array(words, { minLength: 1, maxLength: 3 }).map(
    (texts): Block =>
      (index) =>
        texts.map((text) => delta(index, { text })),
  ),
  fc
    .tuple(words, fc.option(fc.base64String({ minLength: 4 })))
    .map(([text, signature]): Block => (index) => [
      delta(index, { reasoningContent: { text } }),
      ...(signature === null ? [] : [delta(index, { reasoningContent: { signature } })]),
    ]),
  fc.base64String({ minLength: 4 }).map((redactedContent): Block => (index) => [
    delta(index, { reasoningContent: { redactedContent } }),
  ]),
  fc
    .tuple(
      fc.constantFrom("tool_use", "server_tool_use", "mcp_tool_use"),
      words,
      fc.array(input, { maxLength: 1 }),
    )
    .map(([type, name, inputs]): Block => (index, toolUseId) => [
      start(index, {
        toolUse: { toolUseId, name, type, ...(type === "mcp_tool_use" && { serverName: "s" }) },
      }),
      ...inputs.map((text) => delta(index, { toolUse: { input: text } })),
    ]),
  fc
    .tuple(
      fc.constantFrom("success", "error"),
      fc.array(
        fc.oneof(
          words.map((text) => ({ text })),
          json.map((value) => ({ json: value })),
        ),
        { maxLength: 3 },
      ),
      fc.option(json),
    )
    .map(([status, parts, metadata]): Block => (index, toolUseId) => [
      start(index, { toolResult: { toolUseId, status } }),
      ...(parts.length === 0 ? [] : [delta(index, { toolResult: parts })]),
      ...(metadata === null
        ? []
        : [delta(index, { toolResultMetadata: { metadata: JSON.stringify(metadata) } })]),
    ]),
);

const message = fc
  .record({
    role: fc.constantFrom("assistant", "user"),
    blocks: fc.array(block, { maxLength: 5 }),
    reason: fc.option(
      fc.constantFrom(
        "end_turn",
        "tool_use",
        "tool_result",
        "max_tokens",
        "hook_stopped",
        "new_one",
      ),
    ),
    usage: fc.option(
      fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat(), totalTokens: fc.nat() }),
    ),
  })
  .map(({ role, blocks, reason, usage }) => (number: number): Named[] => [
    { name: "messageStart", payload: { role } },
    ...blocks.flatMap((of, index) => [
      ...of(index, `call-${number}-${index}`),
      { name: "contentBlockStop", payload: { contentBlockIndex: index } },
    ]),
    ...(reason === null ? [] : [{ name: "messageStop", payload: { stopReason: reason } }]),
    ...(usage === null
      ? []
      : [{ name: "metadata", payload: { usage, metrics: { latencyMs: 5 } } }]),
    {
      name: "hookEvent",
      payload: { hookEventId: "h", name: "guard", type: "after", decision: "deny", reason: "no" },
    },
  ]);

const ending: fc.Arbitrary<StreamMessage[]> = fc.constantFrom<StreamMessage[]>(
  [],
  [{ type: "exception", name: "throttlingException", payload: { message: "Slow down" } }],
);

/** Whole, or cut anywhere. */
const stream = fc
  .tuple(fc.array(message, { maxLength: 3 }), fc.option(fc.nat(40)), ending)
  .map(([messages, cut, last]): StreamMessage[] => [
    ...messages
      .flatMap((of, number) => of(number))
      .slice(0, cut ?? undefined)
      .map(({ name, payload }) => ({ type: "event", name, payload }) as const),
    ...last,
  ]);

describe("events as a Converse stream", () => {
  it("are the same events when they are folded again", () => {
    fc.assert(
      fc.property(stream, (messages) => {
        const events = fold(messages);
        expect(ofTheStream(fold(encoded(events)))).toEqual(ofTheStream(events));
      }),
      { numRuns: 1000 },
    );
  });

  it("say the same when their deltas were dropped", () => {
    fc.assert(
      fc.property(stream, (messages) => {
        const events = fold(messages).filter(({ type }) => !type.endsWith(".delta"));
        const again = fold(encoded(events)).filter(({ type }) => !type.endsWith(".delta"));
        expect(ofTheStream(again)).toEqual(ofTheStream(events));
      }),
      { numRuns: 300 },
    );
  });

  it("carry the calls of a chat completion as those of a harness, also where it only says stop", () => {
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      type: "event" as const,
      event: "",
      data: JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] }),
    });
    const call = { index: 0, id: "A", function: { name: "look", arguments: '{"at":1}' } };
    const events = runCodec(chatFold(), [
      chunk({ content: "hm" }),
      chunk({ tool_calls: [call] }, "stop"),
    ]);
    expect(encoded(events)).toEqual([
      { type: "event", name: "messageStart", payload: { role: "assistant" } },
      { type: "event", ...delta(0, { text: "hm" }) },
      { type: "event", name: "contentBlockStop", payload: { contentBlockIndex: 0 } },
      {
        type: "event",
        ...start(1, { toolUse: { toolUseId: "A", name: "look", type: "tool_use" } }),
      },
      { type: "event", ...delta(1, { toolUse: { input: '{"at":1}' } }) },
      { type: "event", name: "contentBlockStop", payload: { contentBlockIndex: 1 } },
      { type: "event", name: "messageStop", payload: { stopReason: "tool_use" } },
    ]);
  });

  it("make a failure of the model the agent's failure", () => {
    const end = {
      type: "end",
      outcome: "failed",
      reason: null,
      openCalls: [],
      usage: null,
    } as const;
    const failure = { code: "connection_lost", message: "Gone", details: {} } as const;
    expect(encoded([{ ...end, failure }])).toEqual([
      { type: "exception", name: "runtimeClientError", payload: { message: "Gone" } },
    ]);
  });

  it("leave the choice of who runs a call to the caller", () => {
    const codec = converseEncoder({
      runnerOf: ({ name }) => ({ runBy: name === "ours" ? "server" : "client" }),
    });
    const place = { message: 0, block: 0 };
    const call = toolCall({ id: "A", name: "ours", inputText: "{}", runBy: "client" });
    const members = runCodec(codec, [
      { type: "tool.start", ...place, callId: "A", name: "ours" },
      { type: "tool.end", ...place, call },
    ]);
    expect(members[0]?.payload).toMatchObject({ start: { toolUse: { type: "server_tool_use" } } });
  });
});
