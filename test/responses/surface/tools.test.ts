import { describe, expect, it } from "vitest";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { createToolCall, type ToolResult } from "../../../src/domain/tools/tool-call.ts";
import { defineTool } from "../../../src/tools/define-tool.ts";
import {
  createTurnEnd,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import type { Fields } from "../support/recorded-stream.ts";
import {
  ask,
  called,
  echoes,
  errorIn,
  gate,
  get,
  lastOf,
  openStream,
  outputOf,
  saysWhen,
  textIn,
  tools,
  worldOf,
  type World,
} from "./responses-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

const TWO = wants({ id: "c1", name: "look" }, { id: "c2", name: "feel", input: { a: 1 } });
const callsIn = (response: Fields) =>
  outputOf(response).filter(({ type }) => type === "function_call");
const result = (call: Fields | undefined, output: unknown = "ok") => ({
  type: "function_call_output",
  call_id: call?.["call_id"],
  output,
});

async function paused(answers: readonly ProviderScript[] = [TWO, says("Done")]) {
  const world = await worldOf(answers);
  const { body } = await ask(world, { input: "Look", tools: tools("look", "feel") });
  const give = (...input: readonly object[]) =>
    ask(world, { input, previous_response_id: body["id"] });
  return { world, body, calls: callsIn(body), give };
}

const givenTo = (world: World) =>
  world.provider.invocations.flatMap(({ input }) =>
    input.type === "results"
      ? input.results.map(({ toolCallId, parts }) => [toolCallId, parts])
      : [],
  );

describe("Client tools of a request", () => {
  it("Client tool calls complete the response with open calls in the agent's order [OR-53] [OR-54]", async () => {
    const { body, calls, world } = await paused();
    expect(body).toMatchObject({ status: "completed", error: null });
    expect(calls).toMatchObject([
      { name: "look", arguments: "{}", status: "completed" },
      { name: "feel", arguments: '{"a":1}', status: "completed" },
    ]);
    expect(JSON.stringify(body)).not.toContain("function_call_output");
    expect(world.provider.invocations).toHaveLength(1);
  });

  it("Results are accepted in any order and reach the agent in the order of its tool calls [OR-54]", async () => {
    const { calls, give, world, body } = await paused();
    const answer = await give(result(calls[1], "second"), result(calls[0], "first"));
    expect([answer.status, textIn(answer.body)]).toEqual([200, "Done"]);
    expect(answer.body["session_id"]).toBe(body["session_id"]);
    expect(givenTo(world)).toEqual([
      ["c1", [{ type: "text", text: "first" }]],
      ["c2", [{ type: "text", text: "second" }]],
    ]);
  });

  it.each<[string, (calls: readonly Fields[]) => object[], string, string]>([
    ["a result is missing", (calls) => [result(calls[0])], "missing_result", "input"],
    [
      "a result has an unknown call id",
      (calls) => [...calls.map((call) => result(call)), { ...result(calls[0]), call_id: "call_x" }],
      "unknown_call",
      "input[2].call_id",
    ],
    [
      "a result is sent twice",
      (calls) => [...calls, calls[0]].map((call) => result(call)),
      "duplicate_result",
      "input[2].call_id",
    ],
    [
      "a message is sent instead",
      () => [{ role: "user", content: "Never mind" }],
      "missing_result",
      "input",
    ],
  ])(
    "Results must cover every open tool call exactly once: refused if %s [OR-53] [OR-54]",
    async (_, input, code, param) => {
      const { calls, give, world } = await paused();
      const refused = await give(...input(calls));
      expect([refused.status, errorIn(refused)]).toMatchObject([400, { code, param }]);
      expect(world.provider.invocations).toHaveLength(1);
      const mended = await give(...calls.map((call) => result(call)));
      expect([mended.status, textIn(mended.body)]).toEqual([200, "Done"]);
    },
  );

  it("A result is refused if its tool call already has one and nothing is open [OR-53]", async () => {
    const { calls, give, world } = await paused();
    const done = await give(...calls.map((call) => result(call)));
    const input = [result(calls[0], "other")];
    const late = await ask(world, { input, previous_response_id: done.body["id"] });
    expect([late.status, errorIn(late)["code"]]).toEqual([400, "unknown_call"]);
  });

  it("A result may be an error, and a message may be sent together with results [OR-53]", async () => {
    const { calls, give, world } = await paused();
    const failed = { ...result(calls[0], "no"), is_error: true };
    const words = { role: "user", content: "Be quick" };
    expect((await give(failed, result(calls[1]), words)).status).toBe(200);
    expect(world.provider.invocations[1]?.input).toMatchObject({
      type: "results",
      texts: ["Be quick"],
    });
  });

  it("A client tool with the name of an agent tool is refused by its field", async () => {
    const own = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      run: () => "",
    });
    const world = await worldOf([echoes()], { agent: { tools: [own] } });
    const answer = await ask(world, { input: "Hi", tools: tools("look") });
    expect([answer.status, errorIn(answer)]).toMatchObject([
      400,
      { code: "invalid_tool", param: "tools", type: "invalid_request_error" },
    ]);
  });
});

describe("Refusals that name the field", () => {
  it.each<[string, object, string, string]>([
    ["tools", { tools: tools("look") }, "invalid_option", "tools"],
    ["tool_choice", { tool_choice: "none" }, "invalid_option", "tool_choice"],
    ["max_output_tokens", { max_output_tokens: 100 }, "invalid_option", "max_output_tokens"],
  ])(
    "%s is refused by its field if the agent does not support it [OR-57] [OR-63] [SD-10]",
    async (_, more, code, param) => {
      const world = await worldOf([], { provider: createScriptedProvider([echoes()]) });
      const answer = await ask(world, { input: "Hi", ...more });
      expect([answer.status, errorIn(answer)]).toMatchObject([400, { code, param }]);
      expect(world.heard()).toEqual([]);
    },
  );

  it("tool_choice required is refused by its field, because an agent cannot be forced to call a tool [OR-57]", async () => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, { input: "Hi", tools: tools("look"), tool_choice: "required" });
    expect([answer.status, errorIn(answer)]).toMatchObject([
      400,
      { code: "unsupported_tool_choice", param: "tool_choice" },
    ]);
    expect(world.heard()).toEqual([]);
  });

  it("An image is refused for an agent without image support [OR-62] [SD-8]", async () => {
    const world = await worldOf([echoes()]);
    const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
    const answer = await ask(world, { input: [{ role: "user", content: [image] }] });
    expect([answer.status, errorIn(answer)]).toMatchObject([
      400,
      { code: "invalid_message", param: "input" },
    ]);
  });

  it.each([
    [
      "a file",
      { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
    ],
    ["audio", { type: "input_audio", data: "AA==", format: "mp3" }],
  ])("The content type of %s is refused by its field [OR-62] [SD-8]", async (_, part) => {
    const world = await worldOf([echoes()]);
    const text = { type: "input_text", text: "What is it?" };
    const answer = await ask(world, { input: [{ role: "user", content: [text, part] }] });
    expect([answer.status, errorIn(answer)]).toMatchObject([
      400,
      { code: "unsupported_content", param: expect.stringContaining("content[1]") },
    ]);
    expect(world.heard()).toEqual([]);
  });

  it("Instructions that are too long are refused by their field", async () => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, { input: "Hi", instructions: "x".repeat(300_000) });
    expect([answer.status, errorIn(answer)]).toMatchObject([400, { param: "instructions" }]);
  });
});

describe("Turn options of a request", () => {
  it("Turn options reach the agent for one turn only [OR-57] [OR-60] [SD-4]", async () => {
    const world = await worldOf([echoes()]);
    const first = await ask(world, {
      input: [
        { role: "developer", content: "Be kind" },
        { role: "user", content: "One" },
      ],
      instructions: "Be brief",
      tools: tools("look", "feel"),
      tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "look" }] },
      max_output_tokens: 100,
    });
    await ask(world, { input: "Two", previous_response_id: first.body["id"] });
    const [one, two] = world.provider.invocations;
    expect(one?.options).toMatchObject({
      instructions: "Be brief\n\nBe kind",
      allowedTools: ["look"],
      maxOutputTokens: 100,
      // Tools which may not be called are not listed.
      tools: [{ name: "look" }],
    });
    expect(two?.options).toBeUndefined();
    const none = await ask(world, {
      input: "Three",
      tool_choice: "none",
      conversation: first.body["session_id"],
    });
    expect(none.body["tool_choice"]).toBe("none");
    expect(world.provider.invocations[2]?.options).toMatchObject({ allowedTools: [] });
  });

  it("Unknown fields are listed in x-spanline-ignored [OR-63]", async () => {
    const world = await worldOf([echoes()]);
    const answer = await ask(world, { input: "Hi", user: "me", best_of: 3, "ü\n": 1 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-spanline-ignored")).toBe("user, best_of");
  });

  it("Fields without effect are listed, and fields with their default value are not [OR-63] [SD-10]", async () => {
    const world = await worldOf([echoes()]);
    const format = { type: "json_schema", name: "answer", schema: {} };
    const wishes = {
      temperature: 0,
      top_p: 1,
      reasoning: { effort: "low" },
      text: { format },
      parallel_tool_calls: false,
      include: ["message.output_text.logprobs"],
    };
    const answer = await ask(world, { input: "Hi", ...wishes });
    expect(answer.headers.get("x-spanline-ignored")).toBe(Object.keys(wishes).join(", "));
    const plain = { text: { format: { type: "text" } }, parallel_tool_calls: true, include: [] };
    const other = await ask(world, { input: "Hi", temperature: null, ...plain });
    expect(other.headers.get("x-spanline-ignored")).toBeNull();
  });

  it.each<[string, unknown]>([
    ["a string", "One"],
    ["messages without a type", [{ role: "user", content: "One" }]],
    ["messages with a type", [{ type: "message", role: "user", content: "One" }]],
    ["parts", [{ role: "user", content: [{ type: "input_text", text: "One" }] }]],
  ])("The input can be %s [OR-61]", async (_, input) => {
    const world = await worldOf([echoes()]);
    expect((await ask(world, { input })).status).toBe(200);
    expect(world.heard()).toEqual(["One"]);
  });

  it("New input can follow echoed items of every kind [OR-61] [OR-37]", async () => {
    const world = await worldOf([ranBefore("hidden"), echoes()]);
    for (const mode of ["pairs", "mcp", "extension", "none"]) {
      const headers = { "x-spanline-trace": mode };
      const first = await ask(world, { input: "One" }, { headers });
      const echoed = [
        { role: "user", content: "One" },
        ...outputOf(first.body),
        { role: "user", content: "Two" },
      ];
      const second = await ask(world, { input: echoed }, { headers });
      expect([mode, second.status, second.body["session_id"]]).toEqual([
        mode,
        200,
        first.body["session_id"],
      ]);
      const [item = {}] = outputOf(second.body);
      const reference = [
        { type: "item_reference", id: item["id"] },
        { role: "user", content: "Three" },
      ];
      const third = await ask(world, { input: reference }, { headers });
      expect(third.body["session_id"]).toBe(first.body["session_id"]);
    }
    expect(world.heard().filter((text) => text === "Two")).toHaveLength(4);
  });
});

/** The agent runs its own tool on its side, with this result. */
function ranBefore(name: string, input: Partial<ToolResult> = {}): ProviderScript {
  return async function* (): AsyncGenerator<ProviderEvent> {
    const call = createToolCall({ id: "own1", name, inputText: "{}", runBy: "server" });
    const parts = [{ type: "text", text: "found" }] as const;
    const gave: ToolResult = { toolCallId: "own1", parts, isError: false, ...input };
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text: "Let me see." };
    yield { type: "text.end", message: 0, block: 0, text: "Let me see." };
    yield { type: "tool.start", message: 0, block: 1, toolCallId: "own1", name };
    yield { type: "tool.end", message: 0, block: 1, toolCall: call };
    yield { type: "message.end", message: 0, reason: "tool_use" };
    yield { type: "message.start", message: 1, role: "user" };
    yield { type: "tool.result", message: 1, block: 2, result: gave };
    yield { type: "message.end", message: 1, reason: "tool_result" };
    yield { type: "message.start", message: 2, role: "assistant" };
    yield { type: "text.delta", message: 2, block: 3, text: "Here it is." };
    yield { type: "text.end", message: 2, block: 3, text: "Here it is." };
    yield { type: "message.end", message: 2, reason: "end_turn" };
    yield createTurnEnd({ outcome: "completed", reason: "end_turn" });
  };
}

/** Removes the timestamps and the session and response ids. */
function withoutPlace(response: Fields): unknown {
  const { session_id: session, created_at: _, completed_at: __, ...rest } = response;
  const text = JSON.stringify(rest).replaceAll(String(session), "SESSION");
  return JSON.parse(text.replaceAll(/_SESSION_[\w-]+"/g, '_SESSION_ID"'));
}

describe("Agent tools", () => {
  it("A failed agent tool is shown as failed [OR-55]", async () => {
    const world = await worldOf([ranBefore("look", { isError: true })]);
    const { body } = await ask(world, { input: "Hi", trace: "pairs" });
    expect(outputOf(body)).toContainEqual(
      expect.objectContaining({ type: "function_call_output", is_error: true }),
    );
    const mcp = await ask(world, { input: "Hi" });
    expect(outputOf(mcp.body)).toContainEqual(
      expect.objectContaining({ type: "mcp_call", error: expect.anything() }),
    );
  });

  it.each(["pairs", "mcp", "extension", "none"])(
    "Agent tools are the same in a stream and in a whole response, trace mode %s [OR-18]",
    async (trace) => {
      const world = await worldOf([ranBefore("look")]);
      const { body } = await ask(world, { input: "Hi", trace });
      const streamed = lastOf(await (await openStream(world, { input: "Hi", trace })).rest());
      expect(withoutPlace(streamed)).toEqual(withoutPlace(body));
    },
  );

  it("The request, then the key, then the setting choose the trace mode, and the default is mcp [OR-58]", async () => {
    const keys = [
      { name: "ai-go", key: "key-of-ai-go-0123456789", trace: "pairs" },
      { name: "ada", key: "key-of-ada-0123456789" },
    ] as const;
    const byDefault = await worldOf([ranBefore("look")], { keys });
    const bySetting = await worldOf([ranBefore("look")], { keys, settings: { trace: "none" } });
    const typesOf = async (world: World, key: string, body: object = {}, headers = {}) => {
      const answer = await ask(world, { input: "Hi", ...body }, { key, headers });
      const again = await get(world, `/responses/${String(answer.body["id"])}`, { key });
      expect(outputOf(again.body)).toEqual(outputOf(answer.body));
      return outputOf(answer.body).map(({ type }) => type);
    };
    const [aiGo, ada] = keys.map(({ key }) => key) as [string, string];
    const PAIRS = ["message", "function_call", "function_call_output", "message"];
    const MCP = ["message", "mcp_call", "message"];
    expect({
      default: await typesOf(byDefault, ada),
      key: await typesOf(byDefault, aiGo),
      "key before setting": await typesOf(bySetting, aiGo),
      setting: await typesOf(bySetting, ada),
      "request before key": await typesOf(byDefault, aiGo, { trace: "mcp" }),
      "header before key": await typesOf(byDefault, aiGo, {}, { "x-spanline-trace": "mcp" }),
    }).toEqual({
      default: MCP,
      key: PAIRS,
      "key before setting": PAIRS,
      setting: ["message", "message"],
      "request before key": MCP,
      "header before key": MCP,
    });
  });

  it("A stored response is read in the trace mode of the reader's request, whole and as a stream [OR-58]", async () => {
    const world = await worldOf([ranBefore("look")]);
    const { body } = await ask(world, { input: "Hi" });
    const path = `/responses/${String(body["id"])}`;
    const types = (response: Fields) => outputOf(response).map(({ type }) => type);
    const PAIRS = ["message", "function_call", "function_call_output", "message"];
    expect(types((await get(world, path)).body)).toEqual(["message", "mcp_call", "message"]);
    expect(types((await get(world, `${path}?trace=pairs`)).body)).toEqual(PAIRS);
    const headers = { "x-spanline-trace": "none" };
    expect(types((await get(world, path, { headers })).body)).toEqual(["message", "message"]);
    const url = `${path}?stream=true&trace=pairs`;
    const stream = await openStream(world, undefined, { path: url, method: "GET" });
    expect(types(lastOf(await stream.rest()))).toEqual(PAIRS);
    const refused = await get(world, `${path}?trace=all`);
    expect([refused.status, errorIn(refused)["param"]]).toEqual([400, "trace"]);
  });

  it("A JSON result of an agent tool is shown completely [OR-56]", async () => {
    const parts = [{ type: "json", value: { b: [1, null], a: "x" } }] as const;
    const world = await worldOf([ranBefore("look", { parts })]);
    const { body } = await ask(world, { input: "Hi", trace: "pairs" });
    const output = outputOf(body).find(({ type }) => type === "function_call_output");
    expect(JSON.parse(String(output?.["output"]))).toEqual({ a: "x", b: [1, null] });
  });

  it("Agent tools are listed between the commentary before them and the final answer [OR-59]", async () => {
    const world = await worldOf([ranBefore("look")]);
    const { body } = await ask(world, { input: "Hi", trace: "pairs" });
    expect(outputOf(body).map(({ type, phase }) => phase ?? type)).toEqual([
      "commentary",
      "function_call",
      "function_call_output",
      "final_answer",
    ]);
    expect(textIn(body)).toMatch(/^Let me see\.\s+Here it is\.$/);
  });

  it("Names and ids of agent tools can be echoed by a client and are the same on every route [OR-64] [OR-6]", async () => {
    const name = `@server/${"long.".repeat(20)}tool`;
    const world = await worldOf([ranBefore(name)]);
    const { body } = await ask(world, { input: "Hi" });
    const [call = {}] = callsIn(body);
    expect(String(call["name"])).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(String(call["call_id"]).length).toBeLessThanOrEqual(64);
    expect((await get(world, `/responses/${String(body["id"])}`)).body).toEqual(body);
  });
});

describe("Client tools without a description", () => {
  it("A client tool without a description gets one derived from its name, and the response shows none", async () => {
    const world = await worldOf([says("Done")]);
    const { body } = await ask(world, { input: "Look", tools: tools("get_weather") });
    expect(body).toMatchObject({ status: "completed", tools: [{ description: null }] });
    const messages = [{ role: "user", content: "Look" }];
    const chat = { messages, tools: [{ type: "function", function: { name: "get_weather" } }] };
    expect((await ask(world, chat, { path: "/chat/completions" })).status).toBe(200);
    const offeredTools = world.provider.invocations.map(({ options }) => options?.tools);
    const expectedTools = [{ name: "get_weather", description: "Get weather" }];
    expect(offeredTools).toMatchObject([expectedTools, expectedTools]);
  });
});

describe("Agent tools with a client result", () => {
  it("A client result for an agent tool is refused with the reason and a fix [OR-53]", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks",
      input: { type: "object" },
      run: () => "18",
    });
    const world = await worldOf([wants({ id: "c1", name: "look" }), says("Warm")], {
      agent: { tools: [look] },
    });
    const { body } = await ask(world, { input: "Look", trace: "pairs" });
    const input = callsIn(body).map((call) => result(call));
    const refused = await ask(world, { input, previous_response_id: body["id"] });
    const error = errorIn(refused);
    expect([refused.status, error["code"]]).toEqual([400, "unknown_call"]);
    expect(error["message"]).toContain("the agent ran the tool itself, with the output in");
    expect(error["message"]).toContain('the trace mode "mcp"');
  });
});

describe("Turns whose results never arrive", () => {
  it("Cancelling the response with open tool calls ends the turn, as the refusal suggests [OR-49] [OR-53]", async () => {
    const { world, body, give, calls } = await paused([TWO, echoes()]);
    const refused = await give({ role: "user", content: "Never mind" });
    const [, path = ""] = /POST \/v1(\S+)/.exec(String(errorIn(refused)["message"])) ?? [];
    expect(path).toBe(`/responses/${String(body["id"])}/cancel`);
    for (let times = 0; times < 2; times += 1) {
      const cancelled = await ask(world, {}, { path });
      expect([cancelled.status, cancelled.body]).toEqual([200, body]);
    }
    const late = await give(...calls.map((call) => result(call)));
    expect([late.status, errorIn(late)["code"]]).toEqual([400, "unknown_call"]);
    const next = await give({ role: "user", content: "Never mind" });
    expect([next.status, textIn(next.body)]).toEqual([200, "You said: Never mind"]);
  });

  it("Cancelling ends a waiting background turn [OR-49]", async () => {
    const world = await worldOf([TWO, echoes()]);
    const request = { input: "Look", tools: tools("look", "feel"), background: true };
    const { body } = await ask(world, request);
    const id = String(body["id"]);
    await waitUntil(
      async () => (await get(world, `/responses/${id}`)).body["status"] === "completed",
    );
    expect((await ask(world, {}, { path: `/responses/${id}/cancel` })).status).toBe(200);
    const next = await ask(world, { input: "On", previous_response_id: id });
    expect([next.status, textIn(next.body)]).toEqual([200, "You said: On"]);
  });

  it("Cancelling a response whose results have arrived does not end the turn of the next response [OR-50]", async () => {
    const toolGate = gate();
    const { world, body, give, calls } = await paused([TWO, saysWhen("So", toolGate, " it is")]);
    const going = give(...calls.map((call) => result(call)));
    await called(world, 2);
    const path = `/responses/${String(body["id"])}/cancel`;
    expect((await ask(world, {}, { path })).status).toBe(200);
    toolGate.open();
    expect(textIn((await going).body)).toBe("So it is");
  });

  it("Cancelling ends a waiting turn of a chat [OR-68]", async () => {
    const world = await worldOf([TWO, echoes()]);
    const offered = ["look", "feel"].map((name) => ({ type: "function", function: { name } }));
    const chat = { path: "/chat/completions" };
    const look = { messages: [{ role: "user", content: "Look" }], tools: offered };
    const first = await ask(world, look, chat);
    const headers = { "x-spanline-session": String(first.headers.get("x-spanline-session")) };
    const other = { messages: [{ role: "user", content: "Never mind" }] };
    const refused = await ask(world, other, { ...chat, headers });
    const [, path = ""] = /POST \/v1(\S+)/.exec(String(errorIn(refused)["message"])) ?? [];
    expect((await ask(world, {}, { path })).status).toBe(200);
    expect((await ask(world, other, { ...chat, headers })).status).toBe(200);
  });
});
