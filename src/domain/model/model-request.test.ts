import { describe, expect, it } from "vitest";
import { createImageBlock } from "./image-block.ts";
import { toAlternatingMessages, type ModelBlock, type ModelMessage } from "./model-request.ts";
import { createToolCall, createToolSuccess } from "../tools/tool-call.ts";
import type { TurnBlock } from "../provider/turn.ts";

function text(words: string): TurnBlock {
  return { type: "text", text: words };
}

function call(id: string): TurnBlock {
  return {
    type: "tool-call",
    toolCall: createToolCall({ id, name: "look", inputText: "", runBy: "server" }),
  };
}

function result(id: string): TurnBlock {
  return { type: "tool-result", result: createToolSuccess(id, "seen") };
}

function alternating(...messages: readonly ModelMessage[]): ModelMessage[] {
  return toAlternatingMessages({ messages });
}

describe("toAlternatingMessages", () => {
  it("Messages of the same role are joined and blank text is dropped", () => {
    expect(
      alternating(
        { role: "user", blocks: [text("a"), text(" \n")] },
        { role: "user", blocks: [text("b")] },
        { role: "assistant", blocks: [] },
      ),
    ).toEqual([{ role: "user", blocks: [text("a"), text("b")] }]);
  });

  it("Results inside an assistant message are placed between its calls and its text", () => {
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

  it("Results are placed before the text of the same message", () => {
    expect(alternating({ role: "user", blocks: [text("and?"), result("A")] })).toEqual([
      { role: "user", blocks: [result("A"), text("and?")] },
    ]);
  });

  it("Images always belong to the user, whatever the role of their message", () => {
    const picture = createImageBlock("image/png", "iVBORw==");
    expect(
      alternating(
        { role: "user", blocks: [text("What is it?"), picture] },
        { role: "assistant", blocks: [text("This"), picture] },
      ),
    ).toEqual([
      { role: "user", blocks: [text("What is it?"), picture] },
      { role: "assistant", blocks: [text("This")] },
      { role: "user", blocks: [picture] },
    ]);
  });

  it("Trailing reasoning is dropped, and a message with nothing else too", () => {
    const thought: TurnBlock = { type: "reasoning", text: "hm", signature: "s" };
    expect(
      alternating(
        { role: "user", blocks: [text("a")] },
        { role: "assistant", blocks: [thought] },
        { role: "user", blocks: [text("b")] },
        { role: "assistant", blocks: [thought, text("c"), thought] },
      ),
    ).toEqual([
      { role: "user", blocks: [text("a"), text("b")] },
      { role: "assistant", blocks: [thought, text("c")] },
    ]);
  });

  it("Unsupported blocks are dropped as if they had never existed", () => {
    const messages: readonly ModelMessage[] = [
      { role: "user", blocks: [text("a")] },
      { role: "assistant", blocks: [text("no")] },
      { role: "user", blocks: [text("b")] },
    ];
    const isTaken = (block: ModelBlock): boolean => block.type === "text" && block.text !== "no";
    expect(toAlternatingMessages({ messages }, isTaken)).toEqual([
      { role: "user", blocks: [text("a"), text("b")] },
    ]);
  });

  it("A conversation without content is refused", () => {
    expect(() => alternating({ role: "user", blocks: [text("")] })).toThrowError(
      expect.objectContaining({ code: "invalid_message" }),
    );
  });
});
