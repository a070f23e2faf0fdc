import { describe, expect, it } from "vitest";
import { runCodec } from "../domain/codec.ts";
import { createToolCall, createToolSuccess } from "../domain/tools/tool-call.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import { createLiveEncoder } from "./live-encoder.ts";
import { PLAIN_STYLE } from "./trace-style.ts";

const call = createToolCall({ id: "c", name: "look", inputText: "", runBy: "server" });
const EVENTS: readonly ProviderEvent[] = [
  { type: "message.start", message: 0, role: "assistant" },
  { type: "text.delta", message: 0, block: 0, text: "Let me " },
  { type: "text.delta", message: 0, block: 0, text: "look.\u001b[2J" },
  { type: "text.end", message: 0, block: 0, text: "Let me look.\u001b[2J" },
  { type: "tool.start", message: 0, block: 1, toolCallId: "c", name: "look" },
  { type: "tool.end", message: 0, block: 1, toolCall: call },
  { type: "message.end", message: 0, reason: "tool_use" },
  { type: "message.start", message: 1, role: "user" },
  { type: "tool.result", message: 1, block: 2, result: createToolSuccess("c", "two") },
  { type: "message.end", message: 1, reason: "tool_result" },
  { type: "message.start", message: 2, role: "assistant" },
  { type: "text.delta", message: 2, block: 3, text: "Two.\n" },
  { type: "text.end", message: 2, block: 3, text: "Two.\n" },
  { type: "end", outcome: "completed", reason: "end_turn", openToolCallIds: [], usage: null },
];

function written(to: "result" | "notes", isTerminal: boolean): string {
  const pieces = runCodec(createLiveEncoder({ style: PLAIN_STYLE, isTerminal }), EVENTS);
  return pieces.flatMap((piece) => (piece.target === to ? [piece.text] : [])).join("");
}

describe("Live output of a turn", () => {
  it("The result contains only the assistant's text", () => {
    expect(written("result", false)).toBe("Let me look.\u001b[2J\n\nTwo.\n");
  });

  it("The result cannot control a terminal", () => {
    expect(written("result", true)).toBe("Let me look.\\u{1b}[2J\n\nTwo.\n");
  });

  it("A cancelled turn is reported as cancelled, without a reason", () => {
    const end = { type: "end", outcome: "other", openToolCallIds: [], usage: null } as const;
    const encoder = createLiveEncoder({ style: PLAIN_STYLE, isTerminal: false });
    const last = (reason: string | null) => runCodec(encoder, [{ ...end, reason }]).at(-1)?.text;
    expect(last("cancelled")).toBe("\ncancelled · 0 messages, 0 calls · no usage reported\n");
    expect(last("odd")).toBe("\nother (odd) · 0 messages, 0 calls · no usage reported\n");
  });

  it("A message with a tool call and no text has no heading", () => {
    const encoder = createLiveEncoder({ style: PLAIN_STYLE, isTerminal: false });
    const [first] = runCodec(encoder, [
      { type: "message.start", message: 0, role: "assistant" },
      { type: "tool.end", message: 0, block: 0, toolCall: call },
    ]);
    expect(first?.text).toMatch(/^ {2}→ look/);
  });

  it("The notes contain tool calls and results without repeating the assistant heading", () => {
    const notes = written("notes", false);
    expect(notes).toMatch(/^ {2}→ look/);
    expect(notes).not.toContain("assistant");
    expect(notes).toContain("user\n  ← look");
    expect(notes).toContain("completed (end_turn)");
  });
});
