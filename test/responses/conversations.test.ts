import { OpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { says, createScriptedProvider, wants } from "../support/session/scripted-provider.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { gate, saysWhen } from "./surface/responses-world.ts";
import { serveSessions, type ServedSessions } from "./support/serve-sessions.ts";
import { send, serveAnswers } from "./support/serve-answers.ts";

const KEYS = [
  { name: "ada", key: "key-of-ada-0123456789" },
  { name: "eve", key: "key-of-eve-0123456789" },
];
const userMessage = { type: "message", role: "user", content: "I am Alice." } as const;
const WEATHER = {
  type: "function",
  name: "get_weather",
  parameters: { type: "object", properties: {} },
  strict: null,
} as const;

function clientOf({ baseUrl, apiKey }: Pick<ServedSessions, "baseUrl" | "apiKey">): OpenAI {
  return new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 });
}

interface ShownItem {
  readonly id?: string;
  readonly type: string;
  readonly role?: string;
  readonly content?: readonly { readonly text: string }[];
}

/** A short form of an item: its type, or its role and text. */
function formatItem(item: unknown): string {
  const { type, role, content = [] } = item as ShownItem;
  return [role ?? type, ...content.map(({ text }) => text)].join(": ");
}

describe("Conversations", () => {
  it("A conversation created without items is the session of the responses that use it [OR-32] [OR-34]", async () => {
    const served = await serveAnswers([says("Hello Alice."), says("You are Alice.")]);
    const client = clientOf(served);
    const conversation = await client.conversations.create({ metadata: { title: "Who is who" } });
    const { id } = conversation;
    expect(conversation).toEqual({
      id: expect.stringMatching(/^ses_[0-9a-f]{32}$/),
      object: "conversation",
      created_at: expect.any(Number),
      metadata: { title: "Who is who" },
    });
    for (const input of ["I am Alice.", "Who am I?"]) {
      const response = await client.responses.create({
        model: "scripted",
        input,
        conversation: id,
      });
      expect(response.conversation).toEqual({ id });
    }
    expect(await client.conversations.retrieve(id)).toEqual(conversation);
    const listed = await client.conversations.items.list(id, { order: "asc" });
    expect(listed.data.map(formatItem)).toEqual([
      "user: I am Alice.",
      "assistant: Hello Alice.",
      "user: Who am I?",
      "assistant: You are Alice.",
    ]);
    expect(new Set(served.provider.invocations.map(({ sessionId }) => sessionId))).toEqual(
      new Set([id]),
    );
  });

  it("A conversation created with items sends these items to its agent as history [OR-38]", async () => {
    const served = await serveAnswers([says("You are Alice.")]);
    const client = clientOf(served);
    const answer = { type: "message", role: "assistant", content: "Hello Alice." } as const;
    const { id } = await client.conversations.create({ items: [userMessage, answer] });
    await client.responses.create({ model: "scripted", input: "Who am I?", conversation: id });
    expect(served.provider.invocations).toMatchObject([
      {
        input: { texts: ["Who am I?"] },
        history: [
          { role: "user", blocks: [{ text: "I am Alice." }] },
          { role: "assistant", blocks: [{ text: "Hello Alice." }] },
        ],
      },
    ]);
    const listed = await client.conversations.items.list(id, { order: "asc" });
    expect(listed.data.map(formatItem)).toEqual([
      "user: I am Alice.",
      "assistant: Hello Alice.",
      "user: Who am I?",
      "assistant: You are Alice.",
    ]);
  });

  it("A conversation lists tool calls, results and messages in order, in pages, and each can be read by its id [OR-6]", async () => {
    const served = await serveAnswers([
      wants({ id: "tooluse_1", name: "get_weather" }),
      says("It is warm."),
    ]);
    const client = clientOf(served);
    const request = { model: "scripted", tools: [WEATHER] };
    const first = await client.responses.create({ ...request, input: "How warm is it?" });
    const call = first.output.find((item) => item.type === "function_call");
    const call_id = call?.type === "function_call" ? call.call_id : "";
    const output = { type: "function_call_output", call_id, output: "18" } as const;
    const previous_response_id = first.id;
    const second = await client.responses.create({
      ...request,
      input: [output],
      previous_response_id,
    });
    const id = first.conversation?.id ?? "";
    const items: unknown[] = [];
    const pages = client.conversations.items.list(id, { order: "asc", limit: 2 });
    for await (const item of pages) items.push(item);
    expect(items.map(formatItem)).toEqual([
      "user: How warm is it?",
      "assistant: Let me see.\n\n",
      "function_call",
      "function_call_output",
      "assistant: It is warm.",
    ]);
    // Exactly the items which the responses returned.
    expect(items.slice(1, 3)).toEqual(first.output);
    expect(items.slice(4)).toEqual(second.output);
    for (const item of items) {
      const { id: item_id = "" } = item as ShownItem;
      const found = await client.conversations.items.retrieve(item_id, { conversation_id: id });
      expect(found).toEqual(item);
    }
  });

  it("A conversation omits deleted responses and responses with store false [OR-39] [OR-42]", async () => {
    const served = await serveAnswers([says("One"), says("Two"), says("Three")]);
    const client = clientOf(served);
    const { id } = await client.conversations.create({});
    const ask = (input: string, more = {}) =>
      client.responses.create({ model: "scripted", input, conversation: id, ...more });
    const gone = await ask("first");
    await ask("second", { store: false });
    await ask("third");
    await client.responses.delete(gone.id);
    const listed = await client.conversations.items.list(id, { order: "asc" });
    expect(listed.data.map(formatItem)).toEqual(["user: third", "assistant: Three"]);
  });

  it("A deleted conversation is not found, and neither are its responses [OR-42] [OR-29]", async () => {
    const served = await serveAnswers([says("Hello Alice.")]);
    const client = clientOf(served);
    const first = await client.responses.create({ model: "scripted", input: "I am Alice." });
    const id = first.conversation?.id ?? "";
    expect(await client.conversations.delete(id)).toEqual({
      id,
      object: "conversation.deleted",
      deleted: true,
    });
    await expect(client.conversations.retrieve(id)).rejects.toMatchObject({
      status: 404,
      code: "conversation_not_found",
      param: "conversation_id",
    });
    const request = { model: "scripted", input: "Who am I?", previous_response_id: first.id };
    await expect(client.responses.create(request)).rejects.toMatchObject({
      code: "previous_response_not_found",
    });
    expect(served.provider.invocations).toHaveLength(1);
  });

  it("A conversation is not found with the key of another principal [OR-36]", async () => {
    const served = await serveAnswers([says("Hello")], { keys: KEYS });
    const { id } = await clientOf(served).conversations.create({});
    const eve = { ...served, apiKey: "key-of-eve-0123456789" };
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["GET", "/items"],
      ["GET", "/items/msg_1"],
      ["POST", "/items"],
      ["POST", ""],
    ] as const) {
      const body = method === "POST" ? { body: {} } : {};
      const { status, json } = await send(eve, [method, `/conversations/${id}${path}`], body);
      expect([status, json.error.code]).toEqual([404, "conversation_not_found"]);
    }
    expect((await send(served, ["GET", `/conversations/${id}`])).status).toBe(200);
  });

  it("Metadata is stored at creation and replaced by an update, and its title is the title of the session", async () => {
    const store = createMemoryStore();
    const served = await serveAnswers([says("Hello")], { store });
    const client = clientOf(served);
    const metadata = { title: "Who is who", project: "x", __proto__x: "y" };
    const { id } = await client.conversations.create({ metadata });
    await client.responses.create({ model: "scripted", input: "Hi", conversation: id });
    expect((await client.conversations.retrieve(id)).metadata).toEqual(metadata);
    const changed = { title: "Others", topic: "z" };
    expect((await client.conversations.update(id, { metadata: changed })).metadata).toEqual(
      changed,
    );
    expect(await served.sessions.find(id)).toMatchObject({ title: "Others" });
    await served.stop();
    const again = await serveAnswers([says("Hello")], { store });
    expect((await clientOf(again).conversations.retrieve(id)).metadata).toEqual(changed);
    const { json } = await send(again, ["POST", `/conversations/${id}`], { body: {} });
    expect(json.error).toMatchObject({ code: "missing_field", param: "metadata" });
  });

  it("Items added before the first turn are sent to the agent and listed [OR-38]", async () => {
    const served = await serveAnswers([says("You are Alice, in Paris.")]);
    const client = clientOf(served);
    const { id } = await client.conversations.create({});
    const answer = { type: "message", role: "assistant", content: "Hello Alice." } as const;
    const added = await client.conversations.items.create(id, { items: [userMessage, answer] });
    expect([added.object, added.has_more, added.data.map(formatItem)]).toEqual([
      "list",
      false,
      ["user: I am Alice.", "assistant: Hello Alice."],
    ]);
    const call = { type: "function_call", call_id: "c1", name: "locate", arguments: "{}" } as const;
    const output = { type: "function_call_output", call_id: "c1", output: "Paris" } as const;
    await client.conversations.items.create(id, { items: [call, output] });
    await client.responses.create({ model: "scripted", input: "Who am I?", conversation: id });
    expect(served.provider.invocations).toMatchObject([
      {
        sessionId: id,
        input: { texts: ["Who am I?"] },
        history: [
          { role: "user", blocks: [{ text: "I am Alice." }] },
          { role: "assistant", blocks: [{ text: "Hello Alice." }, { toolCall: { id: "c1" } }] },
          { role: "user", blocks: [{ result: { toolCallId: "c1", isError: false } }] },
        ],
      },
    ]);
    const listed = await client.conversations.items.list(id, { order: "asc" });
    expect(listed.data.map(formatItem)).toEqual([
      "user: I am Alice.",
      "assistant: Hello Alice.",
      "function_call",
      "function_call_output",
      "user: Who am I?",
      "assistant: You are Alice, in Paris.",
    ]);
    expect(listed.data.slice(0, 2)).toEqual(added.data);
  });

  it("A client that stores its history in a conversation can send the whole history with each turn [OR-38]", async () => {
    const served = await serveAnswers([says("Hello Alice."), says("You are Alice.")]);
    const client = clientOf(served);
    const { id } = await client.conversations.create({});
    for (const content of ["I am Alice.", "Who am I?"]) {
      const { data } = await client.conversations.items.list(id, { order: "asc" });
      const prompt = { type: "message", role: "user", content } as const;
      await client.conversations.items.create(id, { items: [prompt] });
      const input = [...data, prompt] as OpenAI.Responses.ResponseInput;
      const { output } = await client.responses.create({ model: "scripted", input });
      await client.conversations.items.create(id, { items: output as never });
    }
    expect(
      served.provider.invocations.map(({ input, history }) => [history.length, input.texts]),
    ).toEqual([
      [0, ["I am Alice."]],
      [2, ["Who am I?"]],
    ]);
    const { data } = await client.conversations.items.list(id, { order: "asc" });
    expect(data.map(formatItem)).toEqual([
      "user: I am Alice.",
      "assistant: Hello Alice.",
      "user: Who am I?",
      "assistant: You are Alice.",
    ]);
  });

  it("Items can be added between turns unless the agent keeps its own history", async () => {
    const items = [userMessage, { type: "message", role: "assistant", content: "Hello." } as const];
    const answers = [says("One"), says("Two")];
    const capabilities = { instructions: true, tools: true } as const;
    const here = createScriptedProvider(answers, { capabilities, keepsHistory: false });
    const agents = [
      defineAgent({ name: "here", provider: here }),
      defineAgent({ name: "there", provider: createScriptedProvider(answers, { capabilities }) }),
    ];
    const served = await serveSessions({ agents });
    const client = clientOf(served);
    const ids = new Map<string, string>();
    for (const model of ["here", "there"]) {
      const { conversation } = await client.responses.create({ model, input: "Hi" });
      ids.set(model, conversation?.id ?? "");
    }
    await client.conversations.items.create(ids.get("here") ?? "", { items });
    const conversation = ids.get("here") ?? "";
    await client.responses.create({ model: "here", input: "So?", conversation });
    expect(here.invocations.at(-1)?.history).toMatchObject([
      { role: "user", blocks: [{ text: "Hi" }] },
      { role: "assistant", blocks: [{ text: "One" }] },
      { role: "user", blocks: [{ text: "I am Alice." }] },
      { role: "assistant", blocks: [{ text: "Hello." }] },
    ]);
    const refused = client.conversations.items.create(ids.get("there") ?? "", { items });
    await expect(refused).rejects.toMatchObject({ status: 400, code: "conversation_not_writable" });
  });

  it("Added items are refused while a turn runs, if a result has no tool call, and if the list is empty", async () => {
    const end = gate();
    const served = await serveAnswers([saysWhen("Well", end)]);
    const client = clientOf(served);
    const { id } = await client.conversations.create({});
    const add = (items: unknown) =>
      send(served, ["POST", `/conversations/${id}/items`], { body: { items } });
    const output = { type: "function_call_output", call_id: "c1", output: "Paris" };
    const refused = [await add([output]), await add([]), await add("Hi")];
    expect(refused.map(({ status, json }) => [status, json.error.code])).toEqual([
      [400, "unknown_call"],
      [400, "missing_field"],
      [400, "invalid_type"],
    ]);
    const stream = await client.responses.create({
      model: "scripted",
      input: "Hi",
      conversation: id,
      stream: true,
    });
    for await (const { type } of stream) if (type === "response.output_text.delta") break;
    await waitUntil(() => served.provider.invocations.length === 1);
    const busy = await add([userMessage]);
    expect([busy.status, busy.json.error.code]).toEqual([409, "session_busy"]);
    end.open();
  });

  it.each([
    [{ metadata: { topic: 7 } }, "invalid_type", "metadata.topic"],
    [{ items: [{ role: "system", content: "Be brief." }] }, "unsupported_item", "items[0]"],
    [{ items: [{ type: "item_reference", id: "msg_1" }] }, "item_not_found", "items[0]"],
    [{ items: "Hello" }, "invalid_type", "items"],
    [{ model: "nobody" }, "model_not_found", "model"],
  ])(
    "A conversation is not created with %j, because part of it would be lost [OR-63]",
    async (body, code, param) => {
      const served = await serveAnswers([says("Hello")]);
      const { json } = await send(served, ["POST", "/conversations"], { body });
      expect(json.error).toMatchObject({ code, param });
    },
  );

  it("An unknown item of a conversation is answered with 404", async () => {
    const served = await serveAnswers([says("Hello")]);
    const { id } = await clientOf(served).conversations.create({});
    const { status, json } = await send(served, ["GET", `/conversations/${id}/items/msg_1`]);
    expect([status, json.error]).toMatchObject([404, { code: "item_not_found" }]);
  });
});
