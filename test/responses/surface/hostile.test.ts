import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ask, echoes, errorIn, get, tools, worldOf } from "./responses-world.ts";
import { runs } from "../../support/test-depth.ts";

const FIELDS = [
  "model",
  "input",
  "previous_response_id",
  "conversation",
  "session_id",
  "instructions",
  "include",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_output_tokens",
  "max_tool_calls",
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
  "reasoning",
  "text",
  "truncation",
  "store",
  "background",
  "stream",
  "stream_options",
  "service_tier",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
  "trace",
] as const;

const anyValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    "",
    " ",
    "auto",
    "x".repeat(100_000),
    "\u0000",
    "\ud800",
    [],
    {},
    [[]],
    [null],
    [{}],
    { type: "function" },
    [{ type: "function", name: "__proto__", parameters: [] }],
    [{ type: "message" }],
    [{ role: "user", content: [{ type: "input_image", image_url: "data:image/png;base64,?" }] }],
    [{ type: "function_call_output" }],
    [{ type: "reasoning", summary: 1 }],
    [{ type: "compaction", encrypted_content: "e30=" }],
    [{ type: "item_reference", id: "msg_" }],
    JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":1}}'),
    { toString: 1, hasOwnProperty: 1 },
  ),
  fc.jsonValue({ maxDepth: 4 }),
);

describe("Hostile requests", () => {
  it("Any combination of fields is answered, or refused with the name of the field [OR-63] [OR-70]", async () => {
    const world = await worldOf([echoes()]);
    const requests = fc.dictionary(fc.constantFrom(...FIELDS), anyValue, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(requests, fc.boolean(), async (wrong, isAsked) => {
        const body = { ...(isAsked && { input: "Hi" }), ...wrong, stream: false };
        const answer = await ask(world, body);
        expect([200, 400, 404]).toContain(answer.status);
        if (answer.status === 200) return;
        expect(errorIn(answer)).toMatchObject({
          message: expect.stringMatching(/./),
          type: expect.stringMatching(/^(?:invalid_request_error|not_found)$/),
          code: expect.stringMatching(/^[a-z_]+$/),
        });
      }),
      { numRuns: runs(400) },
    );
    expect(world.reports).toEqual([]);
  });

  it.each(FIELDS.filter((field) => !["session_id", "stream_options", "input"].includes(field)))(
    "A value of the wrong type for %s is refused with the name of the field [OR-70]",
    async (field) => {
      const world = await worldOf([echoes()]);
      for (const value of [[[7]], Number.MAX_VALUE]) {
        const answer = await ask(world, { input: "Hi", [field]: value });
        expect([field, answer.status, String(errorIn(answer)["param"])]).toEqual([
          field,
          400,
          expect.stringMatching(new RegExp(`^${field}`)),
        ]);
      }
      expect(world.heard()).toEqual([]);
    },
  );

  it("A body of 50 MB is read, and a larger body is refused [OR-71]", async () => {
    const world = await worldOf([echoes()], { bodyBytes: 50_000_000 });
    const over = await ask(world, { input: "x".repeat(50_000_000) });
    expect([over.status, errorIn(over)["code"]]).toEqual([413, "request_too_large"]);
    const long = await ask(world, { input: "x".repeat(49_000_000) });
    expect([long.status, errorIn(long)["param"]]).toEqual([400, "input"]);
    expect(world.heard()).toEqual([]);
    expect(world.reports).toEqual([]);
  });

  it.each([
    ["lists", "[".repeat(100_000), "]".repeat(100_000)],
    ["objects", '{"a":'.repeat(100_000), `1${"}".repeat(100_000)}`],
  ])("Deeply nested %s are refused as invalid JSON [OR-70] [OR-71]", async (_, open, close) => {
    const world = await worldOf([echoes()]);
    for (const field of ["input", "tools", "metadata", "whatever"]) {
      const answer = await ask(world, `{"input":"Hi","${field}":${open}${close}}`);
      expect([answer.status, errorIn(answer)["code"]]).toEqual([400, "invalid_json"]);
    }
  });

  it("A tool schema nested up to the JSON depth limit is answered or refused without a failure", async () => {
    const world = await worldOf([echoes()]);
    const deep = JSON.parse(`${'{"a":'.repeat(400)}1${"}".repeat(400)}`);
    const tool = { ...tools("look")[0], parameters: { type: "object", properties: deep } };
    const answer = await ask(world, { input: "Hi", tools: [tool] });
    expect([200, 400]).toContain(answer.status);
    expect(world.reports).toEqual([]);
  });

  it("A request with ten thousand items is answered or refused by its input [OR-70]", async () => {
    const world = await worldOf([echoes()]);
    const item = (content: string, role = "user") => ({ role, content });
    const many = Array.from({ length: 10_000 }, (_, at) => item(`Number ${at}`));
    const turns = many.map((one, at) => ({ ...one, role: at % 2 === 0 ? "user" : "assistant" }));
    for (const input of [many, [...turns, item("Last")]]) {
      const answer = await ask(world, { input });
      const { param = "input" } = errorIn(answer);
      expect([[200, 400].includes(answer.status), param]).toEqual([true, "input"]);
    }
    expect(world.reports).toEqual([]);
  });

  it.each([
    ["the request body", (names: string) => `{"input":"Hi",${names}}`],
    ["an unknown field", (names: string) => `{"input":"Hi","x":[{${names}}]}`],
    ["a message", (names: string) => `{"input":[{"role":"user","content":"Hi",${names}}]}`],
  ])("Too many members in %s are refused as invalid JSON [OR-71]", async (_, bodyOf) => {
    const world = await worldOf([echoes()]);
    const names = Array.from({ length: 250_000 }, (_, at) => `"${at}":":"`).join(",");
    const answer = await ask(world, bodyOf(names));
    expect([answer.status, errorIn(answer)["code"]]).toEqual([400, "invalid_json"]);
    expect(world.heard()).toEqual([]);
  });

  it.each(["values", "members"] as const)(
    "JSON inside the strings of a request shares one limit on %s with the body [OR-71]",
    async (kind) => {
      const world = await worldOf([echoes()]);
      const count = kind === "values" ? 130_000 : 110_000;
      const toItems = (index: number) => (kind === "values" ? "0" : `"${index}":0`);
      const list = Array.from({ length: count }, (_, index) => toItems(index)).join(",");
      const half = kind === "values" ? `{"a":[${list}]}` : `{${list}}`;
      const toolCall = (id: string, text: string) => [
        { type: "function_call", call_id: id, name: "look", arguments: text },
        { type: "function_call_output", call_id: id, output: "x" },
      ];
      const pack = (json: string) => ({
        type: "compaction",
        encrypted_content: `spanline1.${Buffer.from(json).toString("base64")}`,
      });
      const user = { role: "user", content: "Go" };
      const call = { id: "c", name: "look", inputText: half };
      const packedCall = { role: "assistant", blocks: [{ type: "tool-call", toolCall: call }] };
      const refusedInputs = [
        [...toolCall("a", half), ...toolCall("b", half), user],
        [pack(`{"messages":[],"x":${half}}`), ...toolCall("b", half), user],
        [pack(JSON.stringify({ messages: [packedCall, packedCall] })), user],
        [
          { type: "mcp_call", id: "m", name: "look", arguments: half },
          ...toolCall("b", half),
          user,
        ],
      ];
      for (const input of refusedInputs) {
        const refused = await ask(world, { input });
        expect([refused.status, errorIn(refused)]).toMatchObject([
          400,
          { code: "too_large", message: expect.stringContaining(`000 ${kind}`) },
        ]);
      }
      const added = await ask(world, { items: refusedInputs[0] }, { path: "/conversations" });
      expect([added.status, errorIn(added)["code"]]).toEqual([400, "too_large"]);
      const chatCall = (id: string) => [
        {
          role: "assistant",
          tool_calls: [{ id, type: "function", function: { name: "look", arguments: half } }],
        },
        { role: "tool", tool_call_id: id, content: "x" },
      ];
      const messages = [user, ...chatCall("a"), ...chatCall("b"), user];
      const chat = await ask(world, { messages }, { path: "/chat/completions" });
      expect([chat.status, errorIn(chat)]).toMatchObject([
        400,
        { code: "too_large", param: "messages[3].tool_calls[0].function.arguments" },
      ]);
      expect(world.heard()).toEqual([]);
      expect((await ask(world, { input: [...toolCall("a", half), user] })).status).toBe(200);
    },
  );

  it("Ids of any length are refused without reaching the agent [OR-29] [OR-35]", async () => {
    const world = await worldOf([echoes()]);
    const huge = "a".repeat(1_000_000);
    for (const field of ["previous_response_id", "conversation", "session_id"]) {
      for (const value of [
        huge,
        `resp_${huge}_1`,
        `resp_ses_${"0".repeat(32)}_${"9".repeat(400)}`,
      ]) {
        const answer = await ask(world, { input: "Hi", [field]: value });
        expect([400, 404]).toContain(answer.status);
        expect(String(errorIn(answer)["message"]).length).toBeLessThan(1000);
      }
    }
    const items = [{ type: "item_reference", id: huge }];
    expect((await ask(world, { input: items })).status).toBe(400);
    const path = `/responses/${"a".repeat(8000)}`;
    expect((await get(world, path)).status).toBe(404);
    expect(world.heard()).toEqual([]);
  });

  it("Keys such as __proto__ and constructor have no effect", async () => {
    const world = await worldOf([echoes()]);
    const body =
      '{"input":"Hi","__proto__":{"store":false},"metadata":{"__proto__":"x","constructor":"y"},' +
      '"tools":[{"type":"function","name":"constructor","parameters":{"__proto__":{"type":"string"}}}]}';
    const answer = await ask(world, body);
    expect(answer.status).toBe(200);
    expect(answer.body["store"]).toBe(true);
    expect(JSON.stringify(answer.body["metadata"])).toBe('{"__proto__":"x","constructor":"y"}');
    const path = `/responses/${String(answer.body["id"])}`;
    expect((await get(world, path)).body).toEqual(answer.body);
    expect(({} as { store?: unknown }).store).toBeUndefined();
  });
});
