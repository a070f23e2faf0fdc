import { describe, expect, it } from "vitest";
import type { ModelMessage } from "./model-request.ts";
import { normalizeHistory } from "./normalize-history.ts";
import { createToolCall, createToolSuccess } from "../tools/tool-call.ts";
import type { TurnBlock } from "../provider/turn.ts";

const text = (words: string): TurnBlock => ({ type: "text", text: words });
const call = (id: string, inputText = "{}"): TurnBlock => ({
  type: "tool-call",
  toolCall: createToolCall({ id, name: "look", inputText, runBy: "client" }),
});
const result = (id: string, output: string): TurnBlock => ({
  type: "tool-result",
  result: createToolSuccess(id, output),
});
const user = (...blocks: readonly TurnBlock[]): ModelMessage => ({ role: "user", blocks });
const assistant = (...blocks: readonly TurnBlock[]): ModelMessage => ({
  role: "assistant",
  blocks,
});
const unknown = (toolCallId: string): TurnBlock => ({
  type: "tool-result",
  result: {
    toolCallId,
    isError: true,
    parts: [{ type: "text", text: expect.stringContaining("outcome of this call is unknown") }],
  },
});

describe("normalizeHistory", () => {
  it("A conversation whose calls all have results stays unchanged", () => {
    const messages = [
      user(text("Look")),
      assistant(text("Well"), call("a"), call("b")),
      user(result("a", "1"), result("b", "2"), text("Thanks")),
      assistant(text("Bye")),
    ];
    expect(normalizeHistory(messages)).toEqual(messages);
  });

  it("Messages of one role are joined, and a blank conversation is empty", () => {
    expect(normalizeHistory([user(text("One")), user(text(" ")), user(text("Two"))])).toEqual([
      user(text("One"), text("Two")),
    ]);
    expect(normalizeHistory([])).toEqual([]);
    expect(normalizeHistory([user(text("\n")), assistant()])).toEqual([]);
  });

  it("A call without a result gets an unknown-outcome error, wherever it is", () => {
    expect(
      normalizeHistory([
        user(text("Look")),
        assistant(call("a"), call("b")),
        user(result("b", "2"), text("Never mind")),
        assistant(call("c")),
      ]),
    ).toEqual([
      user(text("Look")),
      assistant(call("a"), call("b")),
      user(unknown("a"), result("b", "2"), text("Never mind")),
      assistant(call("c")),
      user(unknown("c")),
    ]);
  });

  it("A late result is placed after its call, and a result without a call is dropped", () => {
    expect(
      normalizeHistory([
        user(text("Look"), result("x", "0")),
        assistant(call("a")),
        user(text("Well?")),
        assistant(text("Wait")),
        user(result("a", "1")),
        assistant(text("There")),
      ]),
    ).toEqual([
      user(text("Look")),
      assistant(call("a")),
      user(result("a", "1"), text("Well?")),
      assistant(text("Wait"), text("There")),
    ]);
  });

  it("Calls with a reused id are distinguished, and the last of two in one message is kept", () => {
    const messages = [
      user(text("Look")),
      assistant(call("a")),
      user(result("a", "1")),
      assistant(call("a", `{"at":2}`), call("a", `{"at":3}`)),
      user(result("a", "3")),
    ];
    expect(normalizeHistory(messages)).toEqual([
      ...messages.slice(0, 3),
      assistant(call("a", `{"at":3}`)),
      user(result("a", "3")),
    ]);
  });

  it("Calls and results inside one assistant message are split into separate messages", () => {
    expect(
      normalizeHistory([
        user(text("Look")),
        assistant(text("Well"), call("a"), result("a", "1"), text("There")),
      ]),
    ).toEqual([
      user(text("Look")),
      assistant(text("Well"), call("a")),
      user(result("a", "1")),
      assistant(text("There")),
    ]);
  });

  it("A conversation starts with the user", () => {
    expect(normalizeHistory([assistant(text("Hello"))])).toEqual([
      user(text("(The messages before this one are unknown.)")),
      assistant(text("Hello")),
    ]);
  });
});
