import { describe, expect, it } from "vitest";
import { runCodec } from "../src/domain/codec.ts";
import { createToolError, createToolSuccess } from "../src/domain/tools/tool-call.ts";
import { encodeAigoOutput } from "../src/wire/aigo/aigo-output.ts";
import { createConverseFold } from "../src/wire/converse/fold.ts";
import { createInlineFunction, createUserMessages } from "../src/wire/converse/converse-input.ts";
import { parse, readUnionEvent } from "../src/wire/converse/parse.ts";
import { createResumeMessages } from "../src/wire/converse/resume.ts";

const SESSION = "550e8400-e29b-41d4-a716-446655440000";

const start = (contentBlockIndex: number, toolUseId: string, name: string) => ({
  contentBlockStart: { contentBlockIndex, start: { toolUse: { toolUseId, name } } },
});
const input = (contentBlockIndex: number, fragment: string) => ({
  contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: fragment } } },
});
const text = (contentBlockIndex: number, value: string) => ({
  contentBlockDelta: { contentBlockIndex, delta: { text: value } },
});

/** A turn with a catalogue search, in the format of a Harness stream. */
const searchTurn = [
  { messageStart: { role: "assistant" } },
  start(0, "tooluse_01", "search_products"),
  input(0, '{"query": '),
  input(0, '"shoes"}'),
  { contentBlockStop: { contentBlockIndex: 0 } },
  { messageStop: { stopReason: "tool_use" } },
  { messageStart: { role: "user" } },
  {
    contentBlockStart: {
      contentBlockIndex: 0,
      start: { toolResult: { toolUseId: "tooluse_01", status: "success" } },
    },
  },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { toolResult: [{ text: "[]" }] } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  { messageStop: { stopReason: "end_turn" } },
  { messageStart: { role: "assistant" } },
  text(0, "I couldn't find any shoes..."),
  { contentBlockStop: { contentBlockIndex: 0 } },
  { messageStop: { stopReason: "end_turn" } },
  { metadata: { usage: { inputTokens: 201, outputTokens: 22 } } },
];

describe("Converse profile", () => {
  it("The stream seen live with three tool calls on two indexes yields each tool call once [AC-17]", () => {
    const {
      stopReason,
      toolUses,
      text: agentText,
      usage,
    } = parse([
      start(0, "A", "one"),
      start(0, "B", "two"),
      start(1, "C", "three"),
      { messageStop: { stopReason: "tool_use" } },
    ]);
    expect({ stopReason, toolUses, said: agentText, usage }).toEqual({
      stopReason: "tool_use",
      toolUses: [
        {
          toolUseId: "A",
          name: "one",
          input: null,
          inputText: "",
          inputError: {
            problem: "incomplete",
            message: "The stream stopped before the arguments were complete",
          },
        },
        { toolUseId: "B", name: "two", input: {} },
        { toolUseId: "C", name: "three", input: {} },
      ],
      said: "",
      usage: null,
    });
  });

  it("A repeated tool call id is merged", () => {
    expect(
      parse([
        start(0, "X", "same"),
        start(1, "X", "same"),
        { messageStop: { stopReason: "tool_use" } },
      ]).toolUses,
    ).toEqual([{ toolUseId: "X", name: "same", input: {} }]);
  });

  it("Input fragments and text deltas are joined, and usage after the stop is read", () => {
    const {
      stopReason,
      toolUses,
      text: agentText,
      usage,
    } = parse([
      { messageStart: { role: "assistant" } },
      text(0, "all "),
      text(0, "done."),
      { contentBlockStop: { contentBlockIndex: 0 } },
      start(1, "tu_1", "echo"),
      input(1, '{"text":"hi'),
      input(1, '"}'),
      { contentBlockStop: { contentBlockIndex: 1 } },
      { messageStop: { stopReason: "tool_use" } },
      { metadata: { usage: { inputTokens: 12, outputTokens: 7, totalTokens: 19 } } },
    ]);
    expect({ stopReason, toolUses, said: agentText, usage }).toEqual({
      stopReason: "tool_use",
      toolUses: [{ toolUseId: "tu_1", name: "echo", input: { text: "hi" } }],
      said: "all done.",
      usage: {
        inputTokens: 12,
        outputTokens: 7,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        totalTokens: 19,
      },
    });
  });

  it("An inline function is declared with the plain schema", () => {
    const schema = {
      type: "object",
      properties: {
        text: { type: "string", description: "What to say" },
        times: { type: "integer" },
      },
      required: ["text"],
    };
    expect(createInlineFunction("echo", "Says it back", schema)).toEqual({
      type: "inline_function",
      name: "echo",
      config: { inlineFunction: { description: "Says it back", inputSchema: schema } },
    });
  });

  it("A resume sends the assistant's tool calls and a result for each", () => {
    const { turn } = parse([
      { messageStart: { role: "assistant" } },
      start(0, "tu_1", "echo"),
      input(0, '{"text":"hi"}'),
      start(0, "tu_2", "fail"),
      { messageStop: { stopReason: "tool_use" } },
    ]);
    const results = [createToolSuccess("tu_1", "echoed: hi"), createToolError("tu_2", "no")];
    expect(createResumeMessages(turn, results)).toEqual([
      {
        role: "assistant",
        content: [
          { toolUse: { toolUseId: "tu_1", name: "echo", input: { text: "hi" }, type: "tool_use" } },
          { toolUse: { toolUseId: "tu_2", name: "fail", input: {}, type: "tool_use" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            toolResult: {
              toolUseId: "tu_1",
              content: [{ text: "echoed: hi" }],
              status: "success",
              type: "tool_use",
            },
          },
          {
            toolResult: {
              toolUseId: "tu_2",
              content: [{ text: "no" }],
              status: "error",
              type: "tool_use",
            },
          },
        ],
      },
    ]);
  });
});

describe("AI GO! integration", () => {
  const output = (events: readonly unknown[], scope: string) =>
    encodeAigoOutput(runCodec(createConverseFold(), events.flatMap(readUnionEvent)), {
      scope,
      sessionId: SESSION,
    });

  it("Only the new user message is sent", () => {
    expect(createUserMessages("joe@example.com, order ORD-1001")).toEqual([
      { role: "user", content: [{ text: "joe@example.com, order ORD-1001" }] },
    ]);
  });

  it("A catalogue search becomes a call, an output and a reply with the session id", () => {
    expect(output(searchTurn, "turn_1")).toEqual({
      items: [
        {
          id: "fc_turn_1_0",
          type: "function_call",
          call_id: "tooluse_01",
          name: "search_products",
          arguments: '{"query": "shoes"}',
          status: "completed",
        },
        {
          id: "fco_turn_1_1",
          type: "function_call_output",
          call_id: "tooluse_01",
          output: "[]",
          status: "completed",
        },
        {
          id: "msg_turn_1_end",
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

  it("A greeting becomes one message with its usage", () => {
    expect(
      output(
        [
          { messageStart: { role: "assistant" } },
          text(0, "Hello! How can I assist you today?"),
          { contentBlockStop: { contentBlockIndex: 0 } },
          { messageStop: { stopReason: "end_turn" } },
          { metadata: { usage: { inputTokens: 446, outputTokens: 11 } } },
        ],
        "turn_2",
      ),
    ).toEqual({
      items: [
        {
          id: "msg_turn_2_end",
          type: "message",
          status: "completed",
          role: "assistant",
          content: [
            { type: "output_text", text: "Hello! How can I assist you today?", annotations: [] },
          ],
          session_id: SESSION,
        },
      ],
      usage: { num_completion_tokens: 11, num_prompt_tokens: 446 },
    });
  });

  it("Text before a tool call and the final text are separate paragraphs, in order [SD-29]", () => {
    const { items } = output(
      [
        { messageStart: { role: "assistant" } },
        text(0, "Let me check."),
        { contentBlockStop: { contentBlockIndex: 0 } },
        ...searchTurn.slice(1, -5),
        { messageStart: { role: "assistant" } },
        text(0, "Done."),
        { contentBlockStop: { contentBlockIndex: 0 } },
        { messageStop: { stopReason: "end_turn" } },
      ],
      "turn_3",
    );
    expect(items.at(-1)).toMatchObject({
      content: [{ type: "output_text", text: "Let me check.\n\nDone.", annotations: [] }],
    });
  });
});
