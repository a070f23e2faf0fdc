import { describe, expect, it } from "vitest";
import { problemsOf } from "../../../test/responses/open-responses-schema.ts";
import {
  encodeNote,
  decodeNote,
  recordRequest,
  createUnrecordedRequest,
  type RecordedRequest,
} from "./recorded-request.ts";
import { readCreateRequest } from "./request/read-create-request.ts";
import { encodeResponseObject, type ResponseProgress } from "./response-object.ts";
import { NO_USAGE } from "./response-usage.ts";

const SESSION = "ses_0123456789abcdef0123456789abcdef";
const FACTS: ResponseProgress = {
  position: { sessionId: SESSION, seq: 7 },
  createdAt: 1_750_000_000_999,
  completedAt: null,
  status: "in_progress",
  incompleteDetails: null,
  error: null,
  output: [],
  usage: null,
  anomalies: [],
};

function recorded(body: object): RecordedRequest {
  return recordRequest(readCreateRequest(body), { model: "demo", trace: "pairs" });
}

const WEATHER = { type: "function", name: "weather", parameters: { type: "object" } };

describe("The response object", () => {
  it("A response has all keys with defaults for any request [OR-1, OR-2, OR-4, OR-34]", () => {
    const response = encodeResponseObject(recorded({ input: "hi" }), FACTS);
    expect(problemsOf("ResponseResource", response)).toEqual([]);
    expect(response).toEqual({
      id: `resp_${SESSION}_7`,
      object: "response",
      created_at: 1_750_000_000,
      completed_at: null,
      status: "in_progress",
      incomplete_details: null,
      model: "demo",
      previous_response_id: null,
      instructions: null,
      output: [],
      error: null,
      tools: [],
      tool_choice: "auto",
      truncation: "disabled",
      parallel_tool_calls: true,
      text: { format: { type: "text" } },
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      temperature: 1,
      reasoning: null,
      usage: null,
      max_output_tokens: null,
      max_tool_calls: null,
      store: true,
      background: false,
      service_tier: "default",
      metadata: {},
      safety_identifier: null,
      prompt_cache_key: null,
      conversation: { id: SESSION },
      session_id: SESSION,
    });
    expect(encodeResponseObject(createUnrecordedRequest("demo"), FACTS)).toEqual(response);
  });

  it.each<[string, object, object]>([
    [
      "tools, with all five fields",
      { tools: [WEATHER] },
      { tools: [{ ...WEATHER, description: null, strict: null }] },
    ],
    [
      "a forced tool",
      { tool_choice: { type: "function", name: "f" } },
      { tool_choice: { type: "function", name: "f" } },
    ],
    [
      "allowed tools, with their mode",
      { tool_choice: { type: "allowed_tools", tools: [{ type: "function", name: "f" }] } },
      {
        tool_choice: {
          type: "allowed_tools",
          tools: [{ type: "function", name: "f" }],
          mode: "auto",
        },
      },
    ],
    [
      "a schema, as null",
      {
        text: {
          format: { type: "json_schema", name: "n", schema: { type: "object" } },
          verbosity: "low",
        },
      },
      {
        text: {
          format: {
            type: "json_schema",
            name: "n",
            description: null,
            schema: null,
            strict: false,
          },
          verbosity: "low",
        },
      },
    ],
    [
      "partial reasoning options, with both keys",
      { reasoning: { effort: "low" } },
      { reasoning: { effort: "low", summary: null } },
    ],
    [
      "sampling",
      { temperature: 0, top_p: 0.1, top_logprobs: 3 },
      { temperature: 0, top_p: 0.1, top_logprobs: 3 },
    ],
    ["metadata", { metadata: { a: "b" } }, { metadata: { a: "b" } }],
    ["instructions", { instructions: "Be kind" }, { instructions: "Be kind" }],
    [
      "limits",
      { max_output_tokens: 16, max_tool_calls: 1 },
      { max_output_tokens: 16, max_tool_calls: 1 },
    ],
    [
      "flags",
      { store: false, background: true, parallel_tool_calls: false },
      { store: false, background: true, parallel_tool_calls: false },
    ],
  ])("The response repeats %s [OR-1, OR-4]", (_, body, echoed) => {
    const response = encodeResponseObject(recorded(body), { ...FACTS, usage: NO_USAGE });
    expect(response).toMatchObject(echoed);
    expect(problemsOf("ResponseResource", response)).toEqual([]);
  });
});

describe("The record of a request", () => {
  it("A record is read back from the log unchanged", () => {
    const request = recorded({
      tools: [WEATHER],
      background: true,
      metadata: JSON.parse('{"__proto__":"x"}'),
      input: [
        { role: "assistant", content: "a", cursor: 7 },
        { role: "user", content: "b" },
      ],
    });
    expect(request).toMatchObject({
      isBackground: true,
      clientTools: ["weather"],
      state: { cursor: 7 },
    });
    expect(decodeNote(JSON.parse(JSON.stringify(encodeNote(request))))).toEqual(request);
  });

  it("A record includes the client tools of the continued turn", () => {
    const facts = { model: "demo", trace: "none", clientTools: ["a", "b"] } as const;
    const tools = [{ type: "function", name: "b" }];
    expect(recordRequest(readCreateRequest({ tools }), facts).clientTools).toEqual(["b", "a"]);
  });

  it("A record with many tools omits their schemas", () => {
    const description = "d".repeat(2000);
    const tools = Array.from({ length: 128 }, (_, at) => ({
      ...WEATHER,
      name: `t${at}`,
      description,
    }));
    const request = recorded({ tools });
    expect(JSON.stringify(encodeNote(request)).length).toBeLessThan(32_768);
    expect(problemsOf("ResponseResource", encodeResponseObject(request, FACTS))).toEqual([]);
  });

  it("Notes of other surfaces are ignored", () => {
    expect(decodeNote(undefined)).toBeNull();
    expect(decodeNote({ surface: "acp" })).toBeNull();
    expect(decodeNote({ surface: "responses" })).toMatchObject({
      trace: "pairs",
      clientTools: [],
      state: {},
    });
  });
});
