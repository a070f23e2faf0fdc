import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { addToText, writeDisconnectNote, createTextState } from "./turn-text.ts";

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

/** The text added by each batch of events. */
function addBatches(...batches: (readonly SessionEvent[])[]): string[] {
  const state = createTextState("prompt_1");
  return batches.map((events) => addToText(state, events));
}

describe("A turn as text", () => {
  it("Text is added as it arrives, and open approvals are shown in brackets", () => {
    const next: SessionEvent = { type: "message.started", messageId: "m2", role: "assistant" };
    const allowed = { type: "approval.resolved", approvalId: "a1", decision: "allow" } as const;
    expect(
      addBatches(
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

  it("Other turns, other roles and approvals resolved in the same batch add no text", () => {
    const user: SessionEvent = { type: "message.started", messageId: "u", role: "user" };
    const denied = { type: "approval.resolved", approvalId: "a1", decision: "deny" } as const;
    expect(
      addBatches(
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
  ] as const)("An early end of the turn is shown in brackets: %j", (end, text) => {
    expect(addBatches([...start, delta("Half"), { ...ended, ...end }])).toEqual([text]);
  });

  it("A replacement text is shown behind the replaced text", () => {
    const replaced: SessionEvent = { type: "message.replaced", messageId: "m1", text: "Withheld." };
    expect(addBatches([...start, delta("The secret")], [replaced, ended])).toEqual([
      "The secret",
      "\n\n[replaced by:]\n\nWithheld.\n",
    ]);
  });

  it("A note in brackets ends the text if the turn continues", () => {
    const state = createTextState("prompt_1");
    addToText(state, [...start, delta("Half")]);
    expect(writeDisconnectNote(state, "the turn continues")).toBe("\n\n[the turn continues]\n");
  });
});
