import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { addToText, breakOff, initialText } from "./turn-text.ts";

const start: readonly SessionEvent[] = [
  { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
  { type: "message.started", messageId: "m1", role: "assistant" },
];
const delta = (text: string, messageId = "m1"): SessionEvent => ({
  type: "text.delta",
  messageId,
  block: 0,
  text,
});
const ended: SessionEvent = {
  type: "turn.finished",
  turnId: "turn_1",
  outcome: "completed",
  reason: null,
  usage: null,
  steps: 1,
};
const approval: SessionEvent = {
  type: "approval.requested",
  approvalId: "a1",
  question: "run",
  options: ["allow", "deny"],
  subjectId: "t1",
  action: "save_note",
  input: { text: "buy milk" },
  deadline: 0,
};

/** What each batch of events adds. */
function told(...batches: (readonly SessionEvent[])[]): string[] {
  const state = initialText("prompt_1");
  return batches.map((events) => addToText(state, events));
}

describe("a turn as text", () => {
  it("comes as it is said, and says what it waits for", () => {
    const next: SessionEvent = { type: "message.started", messageId: "m2", role: "assistant" };
    const allowed = { type: "approval.resolved", approvalId: "a1", decision: "allow" } as const;
    expect(
      told(
        [...start, delta("Let me ")],
        [delta("see.")],
        [{ type: "text.finished", messageId: "m1", block: 0, text: "Let me see. Yes." }],
        [approval],
        [{ ...allowed, resolvedBy: "person" }],
        [next, delta("Done.", "m2")],
        [ended],
        [delta(" Too late.")],
      ),
    ).toEqual([
      "Let me ",
      "see.",
      " Yes.",
      '\n\n[waiting for your approval: save_note {"text":"buy milk"} — answer in the browser]\n',
      "",
      "\nDone.",
      "\n",
      "",
    ]);
  });

  it("says nothing of other turns, of other roles, and of what was answered at once", () => {
    const user: SessionEvent = { type: "message.started", messageId: "u", role: "user" };
    const denied = { type: "approval.resolved", approvalId: "a1", decision: "deny" } as const;
    expect(
      told(
        [delta("Not mine")],
        [
          ...start,
          user,
          delta("Not the agent", "u"),
          approval,
          { ...denied, resolvedBy: "deadline" },
        ],
      ),
    ).toEqual(["", ""]);
  });

  it.each([
    [{ outcome: "cancelled", reason: null }, "Half\n\n[cancelled]\n"],
    [{ outcome: "limited", reason: "max_steps" }, "Half\n\n[limited: max_steps]\n"],
  ] as const)("ends with how the turn ended when that was early: %j", (end, text) => {
    expect(told([...start, delta("Half"), { ...ended, ...end }])).toEqual([text]);
  });

  it("shows what replaces what was said, behind it", () => {
    const replaced: SessionEvent = { type: "message.replaced", messageId: "m1", text: "Withheld." };
    expect(told([...start, delta("The secret")], [replaced, ended])).toEqual([
      "The secret",
      "\n\n[said instead:]\n\nWithheld.\n",
    ]);
  });

  it("says when it is told no further", () => {
    const state = initialText("prompt_1");
    addToText(state, [...start, delta("Half")]);
    expect(breakOff(state, "the turn goes on")).toBe("\n\n[the turn goes on]\n");
  });
});
