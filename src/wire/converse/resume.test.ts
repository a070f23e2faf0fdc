import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createToolError,
  createToolSuccess,
  type ToolResult,
} from "../../domain/tools/tool-call.ts";
import { parse } from "./parse.ts";
import { createUserMessages } from "./converse-input.ts";
import { createResumeMessages } from "./resume.ts";

const start = (contentBlockIndex: number, toolUseId: string, name: string, type?: string) => ({
  contentBlockStart: {
    contentBlockIndex,
    start: { toolUse: { toolUseId, name, ...(type && { type }) } },
  },
});
const delta = (contentBlockIndex: number, body: object) => ({
  contentBlockDelta: { contentBlockIndex, delta: body },
});
const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } });

const { turn } = parse([
  { messageStart: { role: "assistant" } },
  delta(0, { reasoningContent: { text: "I need two lookups." } }),
  delta(0, { reasoningContent: { signature: "c2lnbmVk" } }),
  stop(0),
  delta(1, { reasoningContent: { redactedContent: "AP/+gA==" } }),
  stop(1),
  delta(2, { text: "Let me look." }),
  stop(2),
  start(3, "tu_1", "lookup"),
  delta(3, { toolUse: { input: '{"id":' } }),
  delta(3, { toolUse: { input: "1}" } }),
  stop(3),
  start(4, "tu_2", "lookup"),
  delta(4, { toolUse: { input: '{"id":2}' } }),
  stop(4),
  { messageStop: { stopReason: "tool_use" } },
]);

describe("Sending the results of open tool calls", () => {
  it("The assistant message is sent whole, with one result per tool call in the order of the calls [AC-43, RMA-P0-3]", () => {
    expect(
      createResumeMessages(turn, [
        createToolError("tu_2", "not found"),
        createToolSuccess("tu_1", { n: 1 }),
      ]),
    ).toEqual([
      {
        role: "assistant",
        content: [
          {
            reasoningContent: {
              reasoningText: { text: "I need two lookups.", signature: "c2lnbmVk" },
            },
          },
          { reasoningContent: { redactedContent: "AP/+gA==" } },
          { text: "Let me look." },
          { toolUse: { toolUseId: "tu_1", name: "lookup", input: { id: 1 }, type: "tool_use" } },
          { toolUse: { toolUseId: "tu_2", name: "lookup", input: { id: 2 }, type: "tool_use" } },
        ],
      },
      {
        role: "user",
        content: [
          {
            toolResult: {
              toolUseId: "tu_1",
              content: [{ json: { n: 1 } }],
              status: "success",
              type: "tool_use",
            },
          },
          {
            toolResult: {
              toolUseId: "tu_2",
              content: [{ text: "not found" }],
              status: "error",
              type: "tool_use",
            },
          },
        ],
      },
    ]);
  });

  it("Reasoning text, signature and redacted content are sent back byte for byte [AC-32]", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", minLength: 1 }),
        fc.base64String({ minLength: 4 }),
        fc.uint8Array({ minLength: 1 }),
        (text, signature, bytes) => {
          const redactedContent = Buffer.from(bytes).toString("base64");
          const parsed = parse([
            { messageStart: { role: "assistant" } },
            ...Array.from(text, (character) => delta(0, { reasoningContent: { text: character } })),
            delta(0, { reasoningContent: { signature } }),
            stop(0),
            delta(1, { reasoningContent: { redactedContent } }),
            stop(1),
            start(2, "A", "a"),
            stop(2),
            { messageStop: { stopReason: "tool_use" } },
          ]);
          const [assistant] = createResumeMessages(parsed.turn, [createToolSuccess("A", "ok")]);
          expect(assistant.content.slice(0, 2)).toEqual([
            { reasoningContent: { reasoningText: { text, signature } } },
            { reasoningContent: { redactedContent } },
          ]);
        },
      ),
    );
  });

  it.each<[string, ToolResult[], object]>([
    [
      "a missing result",
      [createToolSuccess("tu_1", "x")],
      { missing: ["tu_2"], extra: [], repeated: 0 },
    ],
    ["no results at all", [], { missing: ["tu_1", "tu_2"], extra: [], repeated: 0 }],
    [
      "a result for no call",
      [
        createToolSuccess("tu_1", "x"),
        createToolSuccess("tu_2", "x"),
        createToolSuccess("tu_3", "x"),
      ],
      { missing: [], extra: ["tu_3"], repeated: 0 },
    ],
    [
      "two results for one call",
      [
        createToolSuccess("tu_1", "x"),
        createToolSuccess("tu_1", "y"),
        createToolSuccess("tu_2", "x"),
      ],
      { missing: [], extra: [], repeated: 1 },
    ],
  ])("Results with %s are refused before any request is sent [AC-44]", (_, results, details) => {
    expect(() => createResumeMessages(turn, results)).toThrow(
      expect.objectContaining({ code: "resume_mismatch", details }),
    );
  });

  it("A turn without open tool calls cannot be resumed", () => {
    const done = parse([
      { messageStart: { role: "assistant" } },
      { messageStop: { stopReason: "end_turn" } },
    ]);
    expect(() => createResumeMessages(done.turn, [])).toThrow(
      "Cannot resume: the turn has no open tool call",
    );
  });

  it("Each id is sent once, even if several messages of the stream opened it [AC-43]", () => {
    const { turn: repeated } = parse([
      { messageStart: { role: "assistant" } },
      start(0, "A", "one"),
      stop(0),
      { messageStop: { stopReason: "tool_use" } },
      { messageStart: { role: "assistant" } },
      start(0, "A", "one"),
      stop(0),
      start(1, "B", "two"),
      stop(1),
      { messageStop: { stopReason: "tool_use" } },
    ]);
    const [assistant, user] = createResumeMessages(repeated, [
      createToolSuccess("A", "x"),
      createToolSuccess("B", "y"),
    ]);
    expect(assistant.content).toMatchObject([
      { toolUse: { toolUseId: "A" } },
      { toolUse: { toolUseId: "B" } },
    ]);
    expect(user.content).toMatchObject([
      { toolResult: { toolUseId: "A" } },
      { toolResult: { toolUseId: "B" } },
    ]);
  });

  it("A repeated id is sent with the last message that opened it [AC-43]", () => {
    const { turn: repeated } = parse([
      { messageStart: { role: "assistant" } },
      delta(0, { text: "one" }),
      start(1, "X", "x"),
      stop(1),
      { messageStop: { stopReason: "tool_use" } },
      { messageStart: { role: "user" } },
      { contentBlockStart: { contentBlockIndex: 0, start: { toolResult: { toolUseId: "X" } } } },
      stop(0),
      { messageStop: { stopReason: "tool_result" } },
      { messageStart: { role: "assistant" } },
      delta(0, { text: "two" }),
      start(1, "X", "x"),
      stop(1),
      { messageStop: { stopReason: "tool_use" } },
    ]);
    expect(createResumeMessages(repeated, [createToolSuccess("X", "ok")])[0].content).toMatchObject(
      [{ text: "two" }, { toolUse: { toolUseId: "X" } }],
    );
  });

  it("Tool calls answered by the provider are omitted, with messages that have no open tool call [RMA-P0-1]", () => {
    const { turn: mixed } = parse([
      { messageStart: { role: "assistant" } },
      delta(0, { text: "Running." }),
      stop(0),
      start(1, "S", "shell", "server_tool_use"),
      stop(1),
      { messageStop: { stopReason: "tool_use" } },
      { messageStart: { role: "user" } },
      { contentBlockStart: { contentBlockIndex: 0, start: { toolResult: { toolUseId: "S" } } } },
      stop(0),
      { messageStop: { stopReason: "tool_result" } },
      { messageStart: { role: "assistant" } },
      delta(0, { text: "Now you." }),
      stop(0),
      start(1, "C", "ask"),
      stop(1),
      { messageStop: { stopReason: "tool_use" } },
    ]);
    expect(createResumeMessages(mixed, [createToolSuccess("C", "yes")])[0]).toEqual({
      role: "assistant",
      content: [
        { text: "Now you." },
        { toolUse: { toolUseId: "C", name: "ask", input: {}, type: "tool_use" } },
      ],
    });
  });

  it("Unreadable arguments are sent to the model inside an object [RMA-P0-4]", () => {
    const { turn: broken } = parse([
      { messageStart: { role: "assistant" } },
      start(0, "A", "a"),
      delta(0, { toolUse: { input: '{"a":' } }),
      stop(0),
      { messageStop: { stopReason: "tool_use" } },
    ]);
    expect(createResumeMessages(broken, [createToolError("A", "not JSON")])[0].content).toEqual([
      { toolUse: { toolUseId: "A", name: "a", input: { unreadable: '{"a":' }, type: "tool_use" } },
    ]);
  });

  it("Tool results are sent as text, as JSON or as several blocks, in their original form [RMA-P1-3]", () => {
    const json = createToolSuccess("tu_1", { rows: [1, null, "ü"], total: 2 });
    const blocks: ToolResult = {
      toolCallId: "tu_2",
      isError: false,
      parts: [
        { type: "text", text: "Two of them:" },
        { type: "json", value: [{ id: 1 }, { id: 2 }] },
        { type: "json", value: "text that is JSON" },
        { type: "unknown", raw: { document: { name: "a.pdf" } } },
      ],
    };
    const [, user] = createResumeMessages(turn, [json, blocks]);
    expect(user).toEqual({
      role: "user",
      content: [
        {
          toolResult: {
            toolUseId: "tu_1",
            status: "success",
            type: "tool_use",
            content: [{ json: { rows: [1, null, "ü"], total: 2 } }],
          },
        },
        {
          toolResult: {
            toolUseId: "tu_2",
            status: "success",
            type: "tool_use",
            content: [
              { text: "Two of them:" },
              { json: [{ id: 1 }, { id: 2 }] },
              { json: "text that is JSON" },
              { text: '{"document":{"name":"a.pdf"}}' },
            ],
          },
        },
      ],
    });
  });

  it("A tool's output becomes text if it is a string, and JSON otherwise [RMA-P1-3]", () => {
    const parts = (output: unknown) => createToolSuccess("c", output).parts;
    expect(parts("plain")).toEqual([{ type: "text", text: "plain" }]);
    expect(parts("{}")).toEqual([{ type: "text", text: "{}" }]);
    for (const value of [{ a: [1] }, [], 7, false, null]) {
      expect(parts(value)).toEqual([{ type: "json", value }]);
    }
    expect(parts(undefined)).toEqual([]);
  });

  it("Empty text, which the service refuses, is replaced by a placeholder", () => {
    const results = [
      createToolSuccess("tu_1", ""),
      { toolCallId: "tu_2", parts: [], isError: false },
    ];
    expect(createResumeMessages(turn, results)[1].content).toMatchObject([
      { toolResult: { content: [{ text: "(no output)" }] } },
      { toolResult: { content: [{ text: "(no output)" }] } },
    ]);
  });
});

describe("An ordinary turn", () => {
  it("An ordinary turn sends only the new user message [AC-45]", () => {
    expect(createUserMessages("Search the catalog for shoes.")).toEqual([
      { role: "user", content: [{ text: "Search the catalog for shoes." }] },
    ]);
  });

  it("An empty message is refused", () => {
    expect(() => createUserMessages("")).toThrow(
      expect.objectContaining({ code: "invalid_message" }),
    );
    expect(() => createUserMessages()).toThrow(
      expect.objectContaining({ code: "invalid_message" }),
    );
  });
});
