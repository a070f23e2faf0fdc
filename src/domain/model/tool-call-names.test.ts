import { describe, expect, it } from "vitest";
import { toToolCallId, toToolName, makeToolCallIdsDistinct } from "./tool-call-names.ts";
import type { ModelMessage } from "./model-request.ts";
import { createToolCall, createToolSuccess } from "../tools/tool-call.ts";

function calling(...ids: readonly string[]): ModelMessage {
  return {
    role: "assistant",
    blocks: ids.map((id) => ({
      type: "tool-call",
      toolCall: createToolCall({ id, name: "look", inputText: "", runBy: "client" }),
    })),
  };
}

function answering(...ids: readonly string[]): ModelMessage {
  return {
    role: "user",
    blocks: ids.map((id) => ({ type: "tool-result", result: createToolSuccess(id, "seen") })),
  };
}

describe("makeToolCallIdsDistinct", () => {
  it("Distinct ids stay unchanged", () => {
    const messages = [calling("a.b:1", "a.b:2"), answering("a.b:1", "a.b:2")];
    expect(makeToolCallIdsDistinct(messages)).toEqual(messages);
  });

  it("A reused id becomes distinct, and each result keeps its call", () => {
    const again = [calling("a"), answering("a"), calling("a", "b"), answering("b", "a")];
    expect(makeToolCallIdsDistinct(again)).toEqual([
      calling("a"),
      answering("a"),
      calling("a-2", "b"),
      answering("b", "a-2"),
    ]);
  });

  it("Ids stay distinct when the API accepts fewer characters", () => {
    const messages = [calling("a.b", "a_b", ""), answering("a.b", "a_b", "")];
    expect(makeToolCallIdsDistinct(messages, toToolCallId)).toEqual([
      calling("a_b", "a_b-2", "call"),
      answering("a_b", "a_b-2", "call"),
    ]);
  });

  it("Ids are not longer than any API accepts", () => {
    const id = "x".repeat(80);
    const [first, second] =
      makeToolCallIdsDistinct([calling(id, id)], toToolCallId)[0]?.blocks ?? [];
    expect(first).toMatchObject({ toolCall: { id: "x".repeat(64) } });
    expect(second).toMatchObject({ toolCall: { id: `${"x".repeat(62)}-2` } });
  });
});

describe("toToolName", () => {
  it.each([
    ["look", "look"],
    ["files.read text", "files_read_text"],
    ["", "unnamed"],
    ["x".repeat(80), "x".repeat(64)],
  ])("The tool name %j becomes %j", (name, plain) => {
    expect(toToolName(name)).toBe(plain);
  });
});
