import { describe, expect, it } from "vitest";
import { createImageBlock } from "../../src/domain/model/image-block.ts";
import type { ModelRequest } from "../../src/domain/model/model-request.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../src/domain/tools/tool-call.ts";
import { encodeMessagesRequest } from "../../src/wire/messages/request.ts";
import { encodeChatRequest, resolveLimitName } from "../../src/wire/chat/request.ts";

const look = createToolCall({ id: "A", name: "look", inputText: '{"at": 1.0}', runBy: "client" });
const hear = createToolCall({ id: "B", name: "hear", inputText: "", runBy: "client" });
const odd = createToolCall({ id: "C", name: "odd", inputText: "{", runBy: "client" });

const request: ModelRequest = {
  system: "Be brief.",
  messages: [
    {
      role: "user",
      blocks: [
        { type: "text", text: "Hi" },
        { type: "text", text: "there" },
      ],
    },
    {
      role: "assistant",
      blocks: [
        { type: "reasoning", text: "unsealed" },
        { type: "reasoning", text: "hm", signature: "sig" },
        { type: "reasoning", text: "", redacted: "cmVk" },
        { type: "text", text: "Let me see." },
        { type: "tool-call", toolCall: look },
        { type: "tool-call", toolCall: hear },
        { type: "tool-call", toolCall: odd },
      ],
    },
    {
      role: "user",
      blocks: [
        { type: "tool-result", result: createToolSuccess("A", { seen: true }) },
        { type: "tool-result", result: createToolSuccess("B", undefined) },
        { type: "tool-result", result: createToolError("C", "no such tool") },
        { type: "text", text: "And?" },
      ],
    },
  ],
  tools: [{ name: "look", description: "Looks", schema: { type: "object", properties: {} } }],
  toolChoice: "auto",
  maxTokens: 100,
  temperature: 0.5,
  stopSequences: ["END"],
};

const short: ModelRequest = {
  messages: [{ role: "user", blocks: [{ type: "text", text: "Hi" }] }],
};

const showing: ModelRequest = {
  messages: [
    {
      role: "user",
      blocks: [
        { type: "text", text: "What is it?" },
        createImageBlock("image/png", "iVBORw=="),
        { type: "tool-result", result: createToolSuccess("A", "seen") },
      ],
    },
  ],
};

/** Ids and names as a careless model may produce them. */
const named: ModelRequest = {
  messages: [
    ...short.messages,
    {
      role: "assistant",
      blocks: [
        {
          type: "tool-call",
          toolCall: createToolCall({ id: "a.b:0", name: "x.y", inputText: "", runBy: "client" }),
        },
      ],
    },
    { role: "user", blocks: [{ type: "tool-result", result: createToolSuccess("a.b:0", "seen") }] },
  ],
};

describe("Chat completion requests", () => {
  it("A chat request contains the whole conversation", () => {
    expect(encodeChatRequest("m", request)).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi\n\nthere" },
        {
          role: "assistant",
          content: "Let me see.",
          tool_calls: [
            { id: "A", type: "function", function: { name: "look", arguments: '{"at": 1.0}' } },
            { id: "B", type: "function", function: { name: "hear", arguments: "{}" } },
            {
              id: "C",
              type: "function",
              function: { name: "odd", arguments: '{"unreadable":"{"}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "A", content: '{"seen":true}' },
        { role: "tool", tool_call_id: "B", content: "(no output)" },
        { role: "tool", tool_call_id: "C", content: "Error: no such tool" },
        { role: "user", content: "And?" },
      ],
      tools: [
        {
          type: "function",
          function: {
            name: "look",
            description: "Looks",
            parameters: { type: "object", properties: {} },
          },
        },
      ],
      tool_choice: "auto",
      max_tokens: 100,
      temperature: 0.5,
      stop: ["END"],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("A chat request has no fields for missing options", () => {
    expect(encodeChatRequest("m", short)).toEqual({
      model: "m",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("The token limit and reasoning use the field names which the server supports", () => {
    const options = {
      limitName: "max_completion_tokens",
      reasoningName: "reasoning_content",
    } as const;
    expect(encodeChatRequest("m", request, options)).toMatchObject({
      max_completion_tokens: 100,
      messages: { 2: { reasoning_content: "unsealedhm" } },
    });
  });

  it("A chat request has images as content parts", () => {
    expect(encodeChatRequest("m", showing)).toMatchObject({
      messages: [
        { role: "tool", tool_call_id: "A" },
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw==" } },
          ],
        },
      ],
    });
  });

  it("A message with only reasoning is omitted, and tool names are made valid", () => {
    const messages: ModelRequest["messages"] = [
      ...short.messages,
      { role: "assistant", blocks: [{ type: "reasoning", text: "hm" }] },
      ...named.messages,
    ];
    expect(encodeChatRequest("m", { messages })).toMatchObject({
      messages: [
        { role: "user", content: "Hi\n\nHi" },
        { tool_calls: [{ id: "a.b:0", function: { name: "x_y" } }] },
        { tool_call_id: "a.b:0" },
      ],
    });
  });

  it("OpenAI's own field name for the token limit is used for OpenAI", () => {
    expect(resolveLimitName(new URL("https://api.openai.com/v1"))).toBe("max_completion_tokens");
    expect(resolveLimitName(new URL("http://127.0.0.1:11434/v1"))).toBe("max_tokens");
  });

  it("A chat message with only tool calls has null content", () => {
    const messages = [
      { role: "assistant", blocks: [{ type: "tool-call", toolCall: hear }] },
    ] as const;
    expect(encodeChatRequest("m", { messages })).toMatchObject({ messages: [{ content: null }] });
  });

  it.each([
    ["required", "required"],
    [{ tool: "look" }, { type: "function", function: { name: "look" } }],
  ] as const)("A chat request encodes the tool choice %j", (toolChoice, expected) => {
    expect(encodeChatRequest("m", { ...short, toolChoice })).toMatchObject({
      tool_choice: expected,
    });
  });
});

describe("Messages API requests", () => {
  it("A Messages request contains the whole conversation, with signed thinking only", () => {
    expect(encodeMessagesRequest("m", request)).toEqual({
      model: "m",
      max_tokens: 100,
      system: "Be brief.",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "text", text: "there" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "sig" },
            { type: "redacted_thinking", data: "cmVk" },
            { type: "text", text: "Let me see." },
            { type: "tool_use", id: "A", name: "look", input: { at: 1 } },
            { type: "tool_use", id: "B", name: "hear", input: {} },
            { type: "tool_use", id: "C", name: "odd", input: { unreadable: "{" } },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "A",
              content: [{ type: "text", text: '{"seen":true}' }],
            },
            { type: "tool_result", tool_use_id: "B" },
            {
              type: "tool_result",
              tool_use_id: "C",
              content: [{ type: "text", text: "no such tool" }],
              is_error: true,
            },
            { type: "text", text: "And?" },
          ],
        },
      ],
      tools: [
        { name: "look", description: "Looks", input_schema: { type: "object", properties: {} } },
      ],
      tool_choice: { type: "auto" },
      temperature: 0.5,
      stop_sequences: ["END"],
      stream: true,
    });
  });

  it("A Messages request has images after results", () => {
    expect(encodeMessagesRequest("m", showing)).toMatchObject({
      messages: [
        {
          content: [
            { type: "tool_result" },
            { type: "text", text: "What is it?" },
            {
              type: "image",
              source: { type: "base64", media_type: "image/png", data: "iVBORw==" },
            },
          ],
        },
      ],
    });
  });

  it("A Messages request has valid ids and names", () => {
    expect(encodeMessagesRequest("m", named)).toMatchObject({
      messages: [
        {},
        { content: [{ id: "a_b_0", name: "x_y" }] },
        { content: [{ tool_use_id: "a_b_0" }] },
      ],
    });
  });

  it("A Messages request always has a token limit, because the API requires one", () => {
    expect(encodeMessagesRequest("m", short)).toEqual({
      model: "m",
      max_tokens: 8192,
      messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
      stream: true,
    });
  });

  it.each([
    ["required", { type: "any" }],
    [{ tool: "look" }, { type: "tool", name: "look" }],
  ] as const)("A Messages request encodes the tool choice %j", (toolChoice, expected) => {
    expect(encodeMessagesRequest("m", { ...short, toolChoice })).toMatchObject({
      tool_choice: expected,
    });
  });
});
