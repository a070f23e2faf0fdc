import { describe, expect, it } from "vitest";
import { alternatingMessages, type ModelMessage } from "./model-request.ts";
import { toolCall, toolSuccess } from "./tool.ts";
import type { TurnBlock } from "./turn.ts";

function text(words: string): TurnBlock {
  return { type: "text", text: words };
}

function call(id: string): TurnBlock {
  return { type: "call", call: toolCall({ id, name: "look", inputText: "", runBy: "server" }) };
}

function result(id: string): TurnBlock {
  return { type: "result", result: toolSuccess(id, "seen") };
}

function alternating(...messages: readonly ModelMessage[]): ModelMessage[] {
  return alternatingMessages({ messages });
}

describe("a conversation for a model", () => {
  it("joins messages of the same role and leaves out blank text", () => {
    expect(
      alternating(
        { role: "user", blocks: [text("a"), text(" \n")] },
        { role: "user", blocks: [text("b")] },
        { role: "assistant", blocks: [] },
      ),
    ).toEqual([{ role: "user", blocks: [text("a"), text("b")] }]);
  });

  it("puts the results that an assistant's message holds between its calls and its words", () => {
    expect(
      alternating({
        role: "assistant",
        blocks: [text("wait"), call("A"), result("A"), text("done"), call("B")],
      }),
    ).toEqual([
      { role: "assistant", blocks: [text("wait"), call("A")] },
      { role: "user", blocks: [result("A")] },
      { role: "assistant", blocks: [text("done"), call("B")] },
    ]);
  });

  it("puts results before the text of the same message", () => {
    expect(alternating({ role: "user", blocks: [text("and?"), result("A")] })).toEqual([
      { role: "user", blocks: [result("A"), text("and?")] },
    ]);
  });

  it("refuses to ask nothing", () => {
    expect(() => alternating({ role: "user", blocks: [text("")] })).toThrowError(
      expect.objectContaining({ code: "invalid_message" }),
    );
  });
});
