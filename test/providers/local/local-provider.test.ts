import { describe, expect, it } from "vitest";
import type { ModelRequest } from "../../../src/domain/model/model-request.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { createToolCall, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import type { Model } from "../../../src/models/model.ts";
import { localProvider, type LocalOptions } from "../../../src/providers/local/local-provider.ts";
import { startModelServer, says, refuses, wants } from "../../support/server/model-server.ts";
import { createInstantClock } from "../../support/instant-clock.ts";
import { gather, catchRejection, readTurn } from "../../support/session/provider-session.ts";

const { signal } = new AbortController();
const say = (text: string) => ({ type: "prompt", texts: [text] }) as const;
const TOOLS = [{ name: "look", description: "Looks", schema: { type: "object" } }];

/** A model in this process which responds with the given events. */
function model(...answers: readonly (readonly ProviderEvent[])[]) {
  const requests: ModelRequest[] = [];
  const made: Model = {
    name: "scripted",
    async *stream(request) {
      requests.push(request);
      yield* answers[requests.length - 1] ?? answers.at(-1) ?? [];
    },
  };
  return { model: made, requests };
}

function text(words: string): ProviderEvent[] {
  return [
    { type: "message.start", message: 0, role: "assistant" },
    { type: "text.end", message: 0, block: 0, text: words },
    { type: "message.end", message: 0, reason: "stop" },
    { type: "end", outcome: "completed", reason: "stop", openToolCallIds: [], usage: null },
  ];
}

function calling(...ids: readonly string[]): ProviderEvent[] {
  return [
    { type: "message.start", message: 0, role: "assistant" },
    ...ids.map((id, block): ProviderEvent => {
      const call = createToolCall({ id, name: "look", inputText: "{}", runBy: "client" });
      return { type: "tool.end", message: 0, block, toolCall: call };
    }),
    { type: "message.end", message: 0, reason: "tool_use" },
    {
      type: "end",
      outcome: "action-required",
      reason: "tool_use",
      openToolCallIds: [...new Set(ids)],
      usage: null,
    },
  ];
}

describe("The local provider", () => {
  it("Results are matched to the tool calls of the turn until the next prompt", async () => {
    const { model: made, requests } = model(
      calling("c1"),
      calling("c2"),
      text("Yes."),
      calling("c3"),
    );
    const session = localProvider({ model: made }).open();
    const options = { signal, tools: TOOLS };
    const turn = await readTurn(await session.invoke(say("One"), options));
    expect(turn.end?.openToolCallIds).toEqual(["c1"]);
    const results = [createToolSuccess("c1", "seen")];
    const second = await readTurn(
      await session.invoke({ type: "results", turn, results }, options),
    );
    expect(second).toMatchObject({
      toolCalls: [],
      serverToolCalls: [{ toolCall: { id: "c2" }, result: { isError: true } }],
      finalText: "Yes.",
      end: { outcome: "completed" },
    });
    expect(requests).toHaveLength(3);
    const third = await readTurn(await session.invoke(say("Two"), options));
    expect(third.end?.openToolCallIds).toEqual(["c3"]);
  });

  it("Turn options are sent to the model within the limits of the provider's settings [OR-57] [OR-60]", async () => {
    const { model: made, requests } = model(text("Yes."));
    const session = localProvider({ model: made, system: "Be brief.", maxTokens: 100 }).open();
    const other = { ...TOOLS[0], name: "other", description: "", schema: {} };
    const tools = [...TOOLS, other];
    const invocationOptions = { signal, tools, instructions: "Be kind.", allowedTools: ["look"] };
    await gather(await session.invoke(say("One"), { ...invocationOptions, maxOutputTokens: 500 }));
    await gather(
      await session.invoke(say("Two"), {
        ...invocationOptions,
        maxOutputTokens: 5,
        allowedTools: [],
      }),
    );
    await gather(await session.invoke(say("Three"), { signal, tools }));
    const systemMessage = { system: "Be brief.\n\nBe kind." };
    expect(requests).toMatchObject([
      { ...systemMessage, maxTokens: 100, tools: [{ name: "look" }] },
      { ...systemMessage, maxTokens: 5 },
      { system: "Be brief.", maxTokens: 100, tools: [{ name: "look" }, { name: "other" }] },
    ]);
    expect(requests[1]).not.toHaveProperty("tools");
  });

  it("Images are sent before the text, and a prompt may be an image alone", async () => {
    const { model: made, requests } = model(text("A cat."));
    const session = localProvider({ model: made }).open();
    const image = { type: "image", mediaType: "image/png", base64: "AAAA" } as const;
    await gather(
      await session.invoke({ type: "prompt", texts: ["Look"], images: [image] }, { signal }),
    );
    await gather(await session.invoke({ type: "prompt", texts: [], images: [image] }, { signal }));
    expect(requests.map(({ messages }) => messages.at(-1))).toEqual([
      { role: "user", blocks: [image, { type: "text", text: "Look" }] },
      { role: "user", blocks: [image] },
    ]);
  });

  it("Messages and blocks of several model responses are numbered continuously", async () => {
    const { model: made } = model(calling("c1"), calling("c2", "c3"), text("Yes."));
    const session = localProvider({ model: made }).open();
    const turn = await readTurn(await session.invoke(say("One"), { signal, tools: TOOLS }));
    const results = [createToolSuccess("c1", "seen")];
    const events = await gather(
      await session.invoke({ type: "results", turn, results }, { signal, tools: TOOLS }),
    );
    const places = events.flatMap((event) =>
      "block" in event ? [[event.type, event.message, event.block]] : [],
    );
    expect(places).toEqual([
      ["tool.end", 0, 0],
      ["tool.end", 0, 1],
      ["tool.result", 1, 2],
      ["tool.result", 1, 3],
      ["text.end", 2, 4],
    ]);
  });

  it("An id that occurs twice in a message is one tool call, which is run", async () => {
    const { model: made } = model(calling("c1", "c1"));
    const call = await localProvider({ model: made }).open().invoke(say("One"), { signal });
    const { toolCalls, end } = await readTurn(call);
    expect([toolCalls.map(({ id, runBy }) => [id, runBy]), end?.openToolCallIds]).toEqual([
      [["c1", "client"]],
      ["c1"],
    ]);
  });

  it("Tool calls that were never run are omitted from the history", async () => {
    const cut: ProviderEvent[] = [
      ...calling("c1").slice(0, -1),
      { type: "end", outcome: "limited", reason: "length", openToolCallIds: [], usage: null },
    ];
    const { model: made, requests } = model([...cut], text("Yes."));
    const session = localProvider({ model: made }).open();
    await readTurn(await session.invoke(say("One"), { signal }));
    await readTurn(await session.invoke(say("Two"), { signal }));
    expect(requests[1]?.messages).toEqual([
      {
        role: "user",
        blocks: [
          { type: "text", text: "One" },
          { type: "text", text: "Two" },
        ],
      },
    ]);
  });

  it("An empty prompt and results that do not match are refused without a model request", async () => {
    const { model: made, requests } = model(calling("c1"));
    const session = localProvider({ model: made }).open();
    expect(await catchRejection(session.invoke(say(" "), { signal }))).toMatchObject({
      code: "invalid_message",
    });
    const turn = await readTurn(await session.invoke(say("One"), { signal, tools: TOOLS }));
    for (const results of [
      [],
      [createToolSuccess("c2", "")],
      [createToolSuccess("c1", ""), createToolSuccess("c1", "")],
    ]) {
      const call = session.invoke({ type: "results", turn, results }, { signal });
      expect(await catchRejection(call)).toMatchObject({ code: "resume_mismatch" });
    }
    expect(requests).toHaveLength(1);
  });

  it("At most maxConversations conversations are remembered, the most recently opened ones", async () => {
    const { model: made, requests } = model(text("Yes."));
    const provider = localProvider({ model: made, maxConversations: 2 });
    for (const sessionId of ["a", "b", "a", "c"]) {
      await readTurn(await provider.open({ sessionId }).invoke(say(sessionId), { signal }));
    }
    requests.length = 0;
    for (const sessionId of ["c", "a", "b"]) {
      await readTurn(await provider.open({ sessionId }).invoke(say("?"), { signal }));
    }
    expect(requests.map(({ messages }) => messages.length)).toEqual([3, 5, 1]);
  });

  it("A history replaces the remembered conversation, even if it is empty", async () => {
    const { model: made, requests } = model(text("Yes."));
    const provider = localProvider({ model: made });
    await readTurn(await provider.open({ sessionId: "a" }).invoke(say("One"), { signal }));
    const anew = provider.open({ sessionId: "a", history: [] });
    await readTurn(await anew.invoke(say("Two"), { signal }));
    expect(requests[1]?.messages).toHaveLength(1);
  });

  it("A failure after a retry delay ends the turn, because events were already sent", async () => {
    const server = await startModelServer("chat", [refuses(503)]);
    const settings = {
      clock: createInstantClock(),
      limits: { firstEvent: Infinity, idle: Infinity },
    };
    const call = await localProvider({ model: server.createModel(settings) })
      .open()
      .invoke(say("One"), { signal });
    expect(await gather(call)).toMatchObject([
      { type: "activity", kind: "retry-wait" },
      { type: "activity", kind: "retry-wait" },
      { type: "end", outcome: "failed", failure: { code: "service_failed" } },
    ]);
  });

  it("A failed model request within a turn fails the turn and keeps its text", async () => {
    const server = await startModelServer("messages", [
      wants({ id: "c1", name: "look" }),
      wants({ id: "c2", name: "look" }),
      refuses(400),
      says("Yes."),
    ]);
    const session = localProvider({ model: server.createModel() }).open();
    const options = { signal, tools: TOOLS };
    const turn = await readTurn(await session.invoke(say("One"), options));
    const results = [createToolSuccess("c1", "seen")];
    const failed = await readTurn(
      await session.invoke({ type: "results", turn, results }, options),
    );
    expect(failed).toMatchObject({
      text: "Let me see.",
      usage: { inputTokens: 10 },
      end: { outcome: "failed", openToolCallIds: [], failure: { code: "validation_failed" } },
    });
  });

  it("A tap receives the bytes of the response", async () => {
    const server = await startModelServer("chat", [says("Yes.")]);
    const chunks: Uint8Array[] = [];
    const tap = (chunk: Uint8Array): void => void chunks.push(chunk);
    const session = localProvider({ model: server.createModel() }).open();
    await readTurn(await session.invoke(say("One"), { signal, tap }));
    expect(Buffer.concat(chunks).toString()).toContain("[DONE]");
  });

  it.each([
    ["model", { model: undefined }],
    ["maxTokens", { maxTokens: 0 }],
    ["temperature", { temperature: 3 }],
    ["remembered", { maxConversations: -1 }],
    ["guards.lastSteps.within", { guards: { lastSteps: { within: 0 } } }],
  ])("An invalid %s is refused when the provider is created", (path, input) => {
    const options: LocalOptions = Object.assign({ model: model().model }, input);
    expect(() => localProvider(options)).toThrowError(
      expect.objectContaining({ code: "invalid_option", details: { path } }),
    );
  });
});
