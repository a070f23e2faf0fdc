import { describe, expect, it } from "vitest";
import { convertUserInput, type ChatCompletionInput, type InputOptions } from "./model-input.ts";
import { convertModelOutput, type RawModelOutput } from "./model-output.ts";

const SESSION = "550e8400-e29b-41d4-a716-446655440000";

function refusal(data: ChatCompletionInput, options?: InputOptions): unknown {
  try {
    return convertUserInput(data, options);
  } catch (error) {
    return (error as { readonly details: unknown }).details;
  }
}

describe("convertUserInput", () => {
  it("The first turn has the message and no session", () => {
    const body = `{
      "messages": [
        { "role": "user", "content": "Search the catalog for shoes." }
      ]
    }`;
    expect(convertUserInput(JSON.parse(body))).toEqual({
      session_id: "",
      user_message: "Search the catalog for shoes.",
    });
  });

  it("A later turn has the new message and the returned session", () => {
    const body = `{
      "messages": [
        { "role": "user", "content": "Hello!" },
        { "role": "assistant", "content": "Hello! How can I assist you today?",
          "session_id": "550e8400-e29b-41d4-a716-446655440000" },
        { "role": "user", "content": "What is my session id?" }
      ]
    }`;
    expect(convertUserInput(JSON.parse(body))).toEqual({
      session_id: SESSION,
      user_message: "What is my session id?",
    });
    const other = `{
      "messages": [
        { "role": "user", "content": "Hi, can you help me see my orders?" },
        { "role": "assistant", "content": "Sure! What's your email and order ID?",
          "session_id": "550e8400-e29b-41d4-a716-446655440000" },
        { "role": "user", "content": "[email protected], order ORD-1001" }
      ]
    }`;
    expect(convertUserInput(JSON.parse(other))).toEqual({
      session_id: SESSION,
      user_message: "[email protected], order ORD-1001",
    });
  });

  it("All new messages are sent, and the parts of a message are lines [SD-3] [SD-8]", () => {
    const content = [
      { type: "text", text: "One" },
      { type: "text", text: "Two" },
    ];
    const messages = [
      { role: "assistant", content: "Hello!", session_id: SESSION },
      { role: "user", content },
      { role: "user", content: "Three" },
    ];
    expect(convertUserInput({ messages })).toEqual({
      session_id: SESSION,
      user_message: "One\nTwo\n\nThree",
    });
  });

  it("Instructions, attached state and fields without effect are returned [SD-4] [SD-10]", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "Hello!",
        session_id: SESSION,
        conversation_id: "c-1",
        cursor: { at: 7 },
      },
      { role: "user", content: "And?" },
    ];
    const tools = [{ type: "function", function: { name: "look" } }];
    const data = {
      messages,
      tools,
      max_tokens: 5,
      temperature: 0,
      response_format: { type: "json_object" },
    };
    expect(convertUserInput(data)).toEqual({
      session_id: SESSION,
      user_message: "And?",
      instructions: "Be brief.",
      state: { conversation_id: "c-1", cursor: { at: 7 } },
      ignored: ["tools", "max_tokens", "temperature", "response_format"],
    });
  });

  it("An imported conversation is replayed, refused or dropped by option [SD-5]", () => {
    const messages = [
      { role: "user", content: "My name is Ada." },
      { role: "assistant", content: "Hello Ada!" },
      { role: "user", content: "Who am I?" },
    ];
    const replayed = {
      session_id: "",
      user_message: "Who am I?",
      history: [
        { role: "user", blocks: [{ type: "text", text: "My name is Ada." }] },
        { role: "assistant", blocks: [{ type: "text", text: "Hello Ada!" }] },
      ],
    };
    expect(convertUserInput({ messages })).toEqual(replayed);
    expect(convertUserInput({ messages }, { history: "ignore" })).not.toHaveProperty("history");
    expect(refusal({ messages }, { history: "reject" })).toMatchObject({ param: "messages[0]" });
  });

  it("An agent without memory receives the history with every request", () => {
    const messages = [
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello!", session_id: SESSION },
      { role: "user", content: "And?" },
    ];
    expect(convertUserInput({ messages }, { keepsHistory: false }).history).toHaveLength(2);
    expect(convertUserInput({ messages })).not.toHaveProperty("history");
  });

  it.each([
    ["missing_user_message", [{ role: "system", content: "x" }]],
    [
      "no_new_message",
      [
        { role: "user", content: "x" },
        { role: "assistant", content: "y", session_id: SESSION },
      ],
    ],
    [
      "invalid_session_id",
      [
        { role: "assistant", content: "y", session_id: "short" },
        { role: "user", content: "x" },
      ],
    ],
    ["empty_message", [{ role: "user", content: "" }]],
    [
      "unsupported_content",
      [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
        },
      ],
    ],
  ])(
    "An invalid request is refused with %s [SD-1] [SD-2] [SD-7] [SD-8] [SD-9]",
    (code, messages) => {
      expect(refusal({ messages })).toMatchObject({ code });
    },
  );
});

describe("convertModelOutput", () => {
  const RAW: RawModelOutput = JSON.parse(`{
    "session_id": "550e8400-e29b-41d4-a716-446655440000",
    "events": [
      { "messageStart": { "role": "assistant" } },
      { "contentBlockStart": { "contentBlockIndex": 0,
          "start": { "toolUse": { "toolUseId": "tooluse_01",
                                  "name": "search_products" } } } },
      { "contentBlockDelta": { "contentBlockIndex": 0,
          "delta": { "toolUse": { "input": "{\\"query\\": " } } } },
      { "contentBlockDelta": { "contentBlockIndex": 0,
          "delta": { "toolUse": { "input": "\\"shoes\\"}" } } } },
      { "contentBlockStop": { "contentBlockIndex": 0 } },
      { "messageStop": { "stopReason": "tool_use" } },
      { "messageStart": { "role": "user" } },
      { "contentBlockStart": { "contentBlockIndex": 0,
          "start": { "toolResult": { "toolUseId": "tooluse_01",
                                     "status": "success" } } } },
      { "contentBlockDelta": { "contentBlockIndex": 0,
          "delta": { "toolResult": [{ "text": "[]" }] } } },
      { "contentBlockStop": { "contentBlockIndex": 0 } },
      { "messageStop": { "stopReason": "end_turn" } },
      { "messageStart": { "role": "assistant" } },
      { "contentBlockDelta": { "contentBlockIndex": 0,
          "delta": { "text": "I couldn't find any shoes..." } } },
      { "contentBlockStop": { "contentBlockIndex": 0 } },
      { "messageStop": { "stopReason": "end_turn" } },
      { "metadata": { "usage": { "inputTokens": 201, "outputTokens": 22 } } }
    ]
  }`);
  const id = expect.any(String);

  it("The output has the trace, the reply with the session at the end, and the usage [OR-74]", () => {
    expect(convertModelOutput(RAW)).toEqual({
      items: [
        {
          id,
          type: "function_call",
          call_id: "tooluse_01",
          name: "search_products",
          arguments: `{"query": "shoes"}`,
          status: "completed",
        },
        {
          id,
          type: "function_call_output",
          call_id: "tooluse_01",
          output: "[]",
          status: "completed",
        },
        {
          id,
          type: "message",
          status: "completed",
          role: "assistant",
          content: [{ type: "output_text", text: "I couldn't find any shoes...", annotations: [] }],
          session_id: SESSION,
        },
      ],
      usage: { num_prompt_tokens: 201, num_completion_tokens: 22 },
    });
  });

  it("The reply to a greeting equals the example of AI GO!", () => {
    const text = "Hello! How can I assist you today?";
    const events = [
      { messageStart: { role: "assistant" } },
      { contentBlockDelta: { contentBlockIndex: 0, delta: { text } } },
      { contentBlockStop: { contentBlockIndex: 0 } },
      { messageStop: { stopReason: "end_turn" } },
      { metadata: { usage: { inputTokens: 446, outputTokens: 11 } } },
    ];
    expect(convertModelOutput({ session_id: SESSION, events })).toMatchObject({
      items: [
        {
          id,
          status: "completed",
          role: "assistant",
          content: [{ text, annotations: [] }],
          session_id: SESSION,
        },
      ],
      usage: { num_completion_tokens: 11, num_prompt_tokens: 446 },
    });
  });

  it("The same turn has the same ids, and another turn has different ids [SD-34]", () => {
    const ids = (raw: RawModelOutput) => convertModelOutput(raw).items.map((item) => item.id);
    expect(ids(RAW)).toEqual(ids(structuredClone(RAW)));
    expect(ids(RAW)).not.toEqual(ids({ ...RAW, events: RAW.events.slice(0, -1) }));
    expect(ids(RAW)).not.toEqual(ids({ ...RAW, turn_id: "request-1" }));
  });

  it("An interrupted turn keeps earlier items and reports the failure [SD-15] [SD-32]", () => {
    const failure = { code: "connection_lost", message: "It broke", details: {} } as const;
    const { items } = convertModelOutput({ ...RAW, events: RAW.events.slice(0, 6), failure });
    expect(items).toMatchObject([
      { type: "function_call", call_id: "tooluse_01" },
      {
        status: "incomplete",
        error: { code: "connection_lost", message: "It broke" },
        session_id: SESSION,
      },
    ]);
    const cut = convertModelOutput({ ...RAW, events: RAW.events.slice(0, 13) });
    expect(cut.items.at(-1)).toMatchObject({
      status: "incomplete",
      error: { code: "incomplete_turn" },
    });
  });

  it("Attached state replaces no field of the message", () => {
    const state = JSON.parse(`{"cursor":7,"session_id":"x","status":"y","__proto__":{"a":1}}`);
    const text = JSON.stringify(
      convertModelOutput({ ...RAW, state, ignored: ["top_p"] }).items.at(-1),
    );
    expect(JSON.parse(text)).toMatchObject({
      cursor: 7,
      session_id: SESSION,
      status: "completed",
      ignored: ["top_p"],
    });
    expect(text).toContain(`"__proto__":{"a":1}`);
  });
});
