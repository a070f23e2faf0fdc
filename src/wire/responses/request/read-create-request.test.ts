import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refused } from "../../../../test/responses/refused-requests.ts";
import { packConversation } from "./compaction.ts";
import { readCompactRequest, readCreateFrame, readCreateRequest } from "./read-create-request.ts";
import { runs } from "../../../../test/support/test-depth.ts";

function refusalOf(read: () => unknown): { readonly param: unknown; readonly code: unknown } {
  const { kind, param, code } = refused(read) ?? { kind: "none" };
  if (kind !== "invalid_message") throw new Error(`The request was refused as ${kind}`);
  return { param, code };
}

const PNG = "data:image/png;base64,iVBORw0KGgo=";

describe("Reading a request for a response", () => {
  it("An empty request has default values", () => {
    expect(readCreateRequest({})).toEqual({
      model: null,
      input: [],
      previousResponseId: null,
      conversation: null,
      sessionId: null,
      instructions: null,
      tools: [],
      toolChoice: "auto",
      parallelToolCalls: null,
      maxOutputTokens: null,
      maxToolCalls: null,
      budget: null,
      sampling: {
        temperature: null,
        topP: null,
        presencePenalty: null,
        frequencyPenalty: null,
        topLogprobs: null,
      },
      reasoning: null,
      textFormat: { type: "text" },
      verbosity: null,
      truncation: "disabled",
      store: true,
      background: false,
      stream: false,
      serviceTier: null,
      metadata: {},
      safetyIdentifier: null,
      promptCacheKey: null,
      trace: null,
      ignored: [],
    });
  });

  it("All fields of a request are read", () => {
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const request = readCreateRequest({
      model: "demo",
      input: "hi",
      previous_response_id: null,
      conversation: { id: "conv" },
      instructions: "Be kind",
      include: ["reasoning.encrypted_content"],
      tools: [{ type: "function", name: "get_weather", parameters: schema, strict: true }],
      tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "get_weather" }] },
      parallel_tool_calls: false,
      max_output_tokens: 1024,
      max_tool_calls: 3,
      temperature: 0,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: -1,
      top_logprobs: 2,
      reasoning: { effort: "low" },
      text: { format: { type: "json_schema", name: "out", schema }, verbosity: "low" },
      truncation: "auto",
      store: false,
      background: true,
      stream: true,
      stream_options: { include_obfuscation: false },
      service_tier: "flex",
      metadata: { spanline_trace: "mcp", a: "b" },
      safety_identifier: "u",
      prompt_cache_key: "k",
    });
    expect(request).toMatchObject({
      model: "demo",
      conversation: "conv",
      instructions: "Be kind",
      tools: [{ name: "get_weather", description: null, parameters: schema, strict: true }],
      toolChoice: { allowed: ["get_weather"], mode: "auto" },
      parallelToolCalls: false,
      maxOutputTokens: 1024,
      maxToolCalls: 3,
      sampling: {
        temperature: 0,
        topP: 0.5,
        presencePenalty: 1,
        frequencyPenalty: -1,
        topLogprobs: 2,
      },
      reasoning: { effort: "low", summary: null },
      textFormat: { type: "json_schema", name: "out", description: null, schema, strict: false },
      verbosity: "low",
      truncation: "auto",
      store: false,
      background: true,
      stream: true,
      serviceTier: "flex",
      trace: "mcp",
      ignored: [
        "parallel_tool_calls",
        "temperature",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "top_logprobs",
        "reasoning",
        "text",
      ],
    });
  });

  it("Input may be a string, messages with and without a type, and every output item [OR-61]", () => {
    const packed = packConversation({ instructions: "x", messages: [] });
    const { input } = readCreateRequest({
      input: [
        { role: "system", content: "Be a pirate" },
        { type: "message", role: "developer", content: [{ type: "input_text", text: "d" }] },
        {
          role: "user",
          content: [
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: PNG },
          ],
        },
        {
          type: "reasoning",
          id: "rs_1",
          summary: [{ type: "summary_text", text: "Hm" }],
          encrypted_content: "e",
        },
        {
          type: "function_call",
          id: "fc_1",
          call_id: "c",
          name: "f",
          arguments: "{}",
          status: "completed",
        },
        { type: "function_call_output", call_id: "c", output: "1", status: "completed" },
        {
          type: "function_call_output",
          call_id: "c",
          output: [{ type: "input_text", text: "1" }],
          is_error: true,
        },
        {
          type: "mcp_call",
          id: "mcp_1",
          server_label: "s",
          name: "f",
          arguments: "{}",
          output: null,
          error: "no",
        },
        {
          type: "spanline:tool_call",
          id: "stc_1",
          call_id: "c2",
          name: "f",
          arguments: "{}",
          output: "1",
          error: null,
        },
        {
          type: "message",
          role: "assistant",
          id: "msg_1",
          content: [
            { type: "output_text", text: "b", annotations: [] },
            { type: "refusal", refusal: "no" },
          ],
          phase: "commentary",
          status: "completed",
          session_id: "s",
          cursor: 7,
        },
        { role: "assistant", content: null },
        { type: "item_reference", id: "msg_2" },
        { id: "msg_3" },
        { type: "compaction", id: "cmp_1", encrypted_content: packed },
      ],
    });
    expect(input.map(({ kind }) => kind)).toEqual([
      "message",
      "message",
      "message",
      "reasoning",
      "call",
      "result",
      "result",
      "executed",
      "executed",
      "message",
      "message",
      "reference",
      "reference",
      "compaction",
    ]);
    expect(input[7]).toMatchObject({ callId: "mcp_1", output: "no", isError: true });
    expect(input[8]).toMatchObject({ callId: "c2", output: "1", isError: false });
    expect(input[9]).toMatchObject({ sessionId: "s", state: { cursor: 7 } });
    expect(readCreateRequest({ input: "hi" }).input).toEqual([
      {
        kind: "message",
        role: "user",
        path: "input",
        id: null,
        sessionId: null,
        parts: [
          {
            type: "text",
            text: "hi",
            path: "input",
          },
        ],
        partSessionIds: [],
        state: {},
      },
    ]);
  });

  it("Unknown fields are reported as ignored, and the request is accepted [OR-63]", () => {
    const body = JSON.parse('{"input":"hi","user":"u","__proto__":{"model":"x"},"constructor":1}');
    const request = readCreateRequest(body);
    expect(request.ignored).toEqual(["user", "__proto__", "constructor"]);
    expect(request.model).toBeNull();
  });

  it.each<[string, unknown, string | null, string]>([
    ["a body that is not an object", [], null, "invalid_body"],
    ["a model of the wrong type", { model: 1 }, "model", "invalid_type"],
    ["too few tokens", { max_output_tokens: 15 }, "max_output_tokens", "invalid_value"],
    ["half a token", { max_output_tokens: 16.5 }, "max_output_tokens", "invalid_value"],
    ["no tool calls", { max_tool_calls: 0 }, "max_tool_calls", "invalid_value"],
    ["a budget of no tokens", { budget: { tokens: 0 } }, "budget.tokens", "invalid_value"],
    [
      "a temperature that is not a number",
      { temperature: Number.NaN },
      "temperature",
      "invalid_value",
    ],
    ["an unknown choice", { truncation: "some" }, "truncation", "invalid_value"],
    ["a flag as a string", { stream: "yes" }, "stream", "invalid_type"],
    [
      "17 pairs",
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [at, ""])) },
      "metadata",
      "too_many_entries",
    ],
    ["a number in metadata", { metadata: { a: 1 } }, "metadata.a", "invalid_type"],
    ["a long value", { metadata: { a: "x".repeat(513) } }, "metadata.a", "string_too_long"],
    ["a hosted tool", { tools: [{ type: "web_search" }] }, "tools[0].type", "unsupported_tool"],
    [
      "a tool with a dot",
      { tools: [{ type: "function", name: "a.b" }] },
      "tools[0].name",
      "invalid_value",
    ],
    [
      "a tool twice",
      {
        tools: [
          { type: "function", name: "a" },
          { type: "function", name: "a" },
        ],
      },
      "tools[1].name",
      "duplicate_tool",
    ],
    [
      "129 tools",
      { tools: Array.from({ length: 129 }, (_, at) => ({ type: "function", name: `t${at}` })) },
      "tools",
      "too_many_entries",
    ],
    [
      "an unknown choice of tools",
      { tool_choice: { type: "web_search" } },
      "tool_choice.type",
      "invalid_value",
    ],
    [
      "a forced tool call [OR-57]",
      { tool_choice: "required" },
      "tool_choice",
      "unsupported_tool_choice",
    ],
    [
      "a forced choice of several tools [OR-57]",
      {
        tool_choice: {
          type: "allowed_tools",
          mode: "required",
          tools: [{ type: "function", name: "f" }],
        },
      },
      "tool_choice.mode",
      "unsupported_tool_choice",
    ],
    [
      "no allowed tools",
      { tool_choice: { type: "allowed_tools", tools: [] } },
      "tool_choice.tools",
      "invalid_value",
    ],
    [
      "an item of another kind",
      { input: [{ type: "web_search_call" }] },
      "input[0].type",
      "unsupported_item",
    ],
    [
      "a part of another kind",
      { input: [{ role: "user", content: [{ type: "input_smell" }] }] },
      "input[0].content[0].type",
      "unsupported_content",
    ],
    ["another role", { input: [{ role: "tool", content: "x" }] }, "input[0].role", "invalid_value"],
    ["no content", { input: [{ role: "user" }] }, "input[0].content", "missing_field"],
    [
      "an invalid image",
      {
        input: [
          {
            role: "user",
            content: [{ type: "input_image", image_url: "data:text/html;base64,AAAA" }],
          },
        ],
      },
      "input[0].content[0].image_url",
      "invalid_image",
    ],
    [
      "an empty call id",
      { input: [{ type: "function_call_output", call_id: "", output: "" }] },
      "input[0].call_id",
      "missing_field",
    ],
    [
      "a compaction of another server",
      { input: [{ type: "compaction", encrypted_content: "gAAA" }] },
      "input[0].encrypted_content",
      "invalid_compaction",
    ],
    [
      "too much state",
      { input: [{ role: "assistant", content: "x", memory: "m".repeat(20_000) }] },
      "input[0]",
      "state_too_large",
    ],
    ["an unknown trace", { trace: "all" }, "trace", "invalid_value"],
    [
      "an unknown trace in metadata",
      { metadata: { spanline_trace: "all" } },
      "metadata.spanline_trace",
      "invalid_value",
    ],
  ])("A request with %s is refused with the name of the field [OR-70]", (_, body, param, code) => {
    expect(refusalOf(() => readCreateRequest(body))).toEqual({ param, code });
  });

  it("A deeply nested request is refused without a stack overflow", () => {
    const deep = JSON.parse(`${'{"a":'.repeat(400)}1${"}".repeat(400)}`);
    const tools = [{ type: "function", name: "f", parameters: deep }];
    expect(refusalOf(() => readCreateRequest({ tools }))).toEqual({
      param: "tools[0].parameters",
      code: "too_deep",
    });
  });

  it("A random request is accepted, or refused with a typed error", () => {
    const names = [
      "input",
      "tools",
      "tool_choice",
      "metadata",
      "text",
      "reasoning",
      "conversation",
    ];
    const anyBody = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 4 }));
    const anyItems = fc.array(
      fc.dictionary(
        fc.constantFrom("type", "role", "content", "call_id", "output", "id", "summary"),
        fc.oneof(
          fc.constantFrom("message", "reasoning", "function_call", "assistant", "user"),
          fc.jsonValue(),
        ),
      ),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          anyBody,
          anyItems.map((input) => ({ input })),
        ),
        (body) => {
          expect([undefined, "invalid_message", "not_found"]).toContain(
            refused(() => readCreateRequest(body))?.kind,
          );
        },
      ),
      { numRuns: runs(2000) },
    );
  });
});

describe("Reading a WebSocket frame", () => {
  it("A frame is a streamed request", () => {
    expect(readCreateFrame({ type: "response.create", input: "hi" })).toEqual({
      ...readCreateRequest({ input: "hi" }),
      stream: true,
    });
  });

  it.each(["stream", "stream_options", "background"])(
    "A frame with %s is refused [OR-76]",
    (name) => {
      const frame = { type: "response.create", input: "hi", [name]: true };
      expect(refusalOf(() => readCreateFrame(frame))).toEqual({
        param: name,
        code: "unsupported_field",
      });
    },
  );

  it("A frame of another type is refused", () => {
    expect(refusalOf(() => readCreateFrame({ type: "session.update" }))).toEqual({
      param: "type",
      code: "unknown_frame",
    });
  });
});

describe("Reading a compaction request", () => {
  it("A compaction request without a model is refused [OR-77]", () => {
    expect(refusalOf(() => readCompactRequest({ input: "hi" }))).toEqual({
      param: "model",
      code: "missing_field",
    });
  });
});
