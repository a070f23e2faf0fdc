import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createTranscript } from "./transcript-encoder.ts";

function shown(...events: readonly SessionEvent[]): string {
  const transcript = createTranscript(PLAIN_STYLE);
  const state = transcript.initial();
  let text = "";
  for (const [at, event] of events.entries()) {
    const envelope = { sessionId: "s", seq: at + 1, at: 0, visibility: "public", event } as const;
    transcript.step(state, envelope, (piece) => (text += piece));
  }
  return text;
}

const said: readonly SessionEvent[] = [
  { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
  { type: "message.started", messageId: "m1", role: "assistant" },
];
const cut = { messageId: "m1", interrupted: true } as const;

describe("a session's transcript", () => {
  it("has what was said before a kill before the news of it", () => {
    const text = shown(
      ...said,
      { type: "session.recovered", epoch: 2 },
      { type: "client.detached", clientId: "c1", reason: "bridge_restarted" },
      { type: "text.finished", ...cut, block: 0, text: "This is half a" },
      { type: "message.finished", ...cut, reason: null },
      { type: "invocation.lost", invocationId: "call_1" },
    );
    expect(text.split("\n").slice(2)).toEqual([
      "assistant",
      "  This is half a",
      "  ! taken up again: the process that ran it was gone",
      "  ! the connection to the agent was lost",
      "",
    ]);
  });

  it("has that news at once when nothing was being said", () => {
    expect(shown({ type: "session.recovered", epoch: 2 })).toBe(
      "  ! taken up again: the process that ran it was gone\n",
    );
  });

  it("has the plan, each time whole, and the mode", () => {
    const entries = [
      { content: "Look", status: "completed", priority: "high" },
      { content: "Write\nit", status: "in_progress", priority: "medium" },
    ] as const;
    const text = shown(
      { type: "plan.updated", entries },
      { type: "plan.updated", entries: [] },
      { type: "session.mode_changed", mode: "ask" },
    );
    expect(text.split("\n")).toEqual([
      "  plan",
      "  [x] Look",
      "  [>] Write\\u{a}it",
      "  no plan any more",
      "  · the mode is ask now",
      "",
    ]);
  });
});
