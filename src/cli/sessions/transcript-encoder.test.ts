import { describe, expect, it } from "vitest";
import { EVENT_MANIFEST } from "../../domain/events/event-manifest.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createTranscript, TRANSCRIPT_RULES } from "./transcript-encoder.ts";

function printTranscript(...events: readonly SessionEvent[]): string {
  const transcript = createTranscript(PLAIN_STYLE);
  const state = transcript.initial();
  let text = "";
  for (const [at, event] of events.entries()) {
    const envelope = { sessionId: "s", seq: at + 1, at: 0, visibility: "public", event } as const;
    transcript.step(state, envelope, (piece) => (text += piece));
  }
  return text;
}

const messageEvents: readonly SessionEvent[] = [
  { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
  { type: "message.started", messageId: "m1", role: "assistant" },
];
const cut = { messageId: "m1", interrupted: true } as const;

describe("The transcript of a session", () => {
  it("Every session event has a rule: it is mapped, or silent for a reason [B-014]", () => {
    expect(Object.keys(TRANSCRIPT_RULES).sort()).toEqual(Object.keys(EVENT_MANIFEST).sort());
    const undecided = Object.entries(TRANSCRIPT_RULES).filter(
      ([, { silent, encode }]) =>
        (silent === undefined || silent === "") === (encode === undefined),
    );
    expect(undecided).toEqual([]);
  });

  it("Text from before a kill is printed before the notice of the restart", () => {
    const text = printTranscript(
      ...messageEvents,
      { type: "session.recovered", epoch: 2 },
      { type: "client.detached", clientId: "c1", reason: "bridge_restarted" },
      { type: "text.finished", ...cut, block: 0, text: "This is half a" },
      { type: "message.finished", ...cut, reason: null },
    );
    expect(text.split("\n").slice(2)).toEqual([
      "assistant",
      "  This is half a",
      "  ! session resumed after a restart",
      "",
    ]);
  });

  const invoked = {
    type: "invocation.started",
    invocationId: "call_1",
    upstreamId: "up_1",
    purpose: "prompt",
  } as const;
  const lost = { type: "invocation.lost", invocationId: "call_1" } as const;
  const recovery = {
    type: "message.sent",
    messageId: "m2",
    origin: "recovery",
    content: [{ type: "text", text: "The connection was lost. Your last input was: Hello" }],
  } as const;
  const question = {
    type: "approval.requested",
    approvalId: "appr_1",
    question: "lost-invocation",
    options: ["continue", "reseed", "stop"],
    subjectId: "call_1",
    action: "The connection was lost; allowing continues",
    input: null,
    deadline: 1,
  } as const;
  const notice =
    "The agent's response was interrupted, so the bridge repeated the input the agent may have missed";

  it.each<[name: string, events: readonly SessionEvent[], line: string]>([
    ["by the connection", [lost, recovery], `! ${notice}`],
    [
      "by a kill",
      [{ type: "session.recovered", epoch: 2 }, lost, recovery],
      `! Session resumed after a restart: ${notice}`,
    ],
    [
      "by a kill, and an approver is asked",
      [{ type: "session.recovered", epoch: 2 }, lost, question],
      "? The connection was lost; allowing continues appr_1",
    ],
    [
      "by the connection, and the invocation is made again",
      [lost, { ...invoked, invocationId: "call_2" }],
      "! The connection to the agent was lost",
    ],
    ["in the previous turn", [recovery], `! ${notice}`],
  ])("A response that is lost %s has one line in the transcript", (_, events, line) => {
    const [begun, ended] = [
      printTranscript(...messageEvents, invoked),
      printTranscript(...messageEvents, invoked, ...events),
    ];
    expect(ended.slice(begun.length)).toBe(`  ${line}\n`);
  });

  it("A decision is printed in words", () => {
    const resolved = {
      type: "approval.resolved",
      approvalId: "appr_1",
      decision: "allow-always",
      resolvedBy: "person",
    } as const;
    expect(printTranscript(resolved)).toBe("  = always allow\n");
  });

  it("Without an open message, the restart notice is printed at once", () => {
    expect(printTranscript({ type: "session.recovered", epoch: 2 })).toBe(
      "  ! session resumed after a restart\n",
    );
  });

  it("The transcript contains every whole plan and the session mode", () => {
    const entries = [
      { content: "Look", status: "completed", priority: "high" },
      { content: "Write\nit", status: "in_progress", priority: "medium" },
    ] as const;
    const text = printTranscript(
      { type: "plan.updated", entries },
      { type: "plan.updated", entries: [] },
      { type: "session.mode_changed", mode: "ask" },
    );
    expect(text.split("\n")).toEqual([
      "  plan",
      "  [x] Look",
      "  [>] Write\\u{a}it",
      "  plan cleared",
      "  · the mode is now ask",
      "",
    ]);
  });
});
