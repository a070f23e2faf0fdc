import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { addToReport, createReportState, createReport, type TurnReport } from "./turn-report.ts";

const started: SessionEvent = { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" };
const agentSpeaks: SessionEvent = { type: "message.started", messageId: "m", role: "assistant" };

function reported(...events: readonly SessionEvent[]): TurnReport {
  const state = createReportState("prompt_1");
  for (const event of events) addToReport(state, event);
  return createReport(state);
}

describe("Turn reports", () => {
  it("The report is empty before the turn starts", () => {
    expect(reported(agentSpeaks)).toEqual({
      turnId: null,
      outcome: null,
      reason: null,
      text: "",
      toolCalls: [],
      pendingApprovals: [],
      usage: null,
    });
  });

  it("The report contains the text so far of an open block", () => {
    const delta = { type: "text.delta", messageId: "m", block: 0 } as const;
    const events = [started, agentSpeaks, { ...delta, text: "So " }, { ...delta, text: "far" }];
    expect(reported(...events)).toMatchObject({ turnId: "turn_1", outcome: null, text: "So far" });
  });

  it("The final text of a block replaces its deltas, and a replaced message replaces its blocks", () => {
    const block = { messageId: "m", block: 0 };
    const events: SessionEvent[] = [
      started,
      agentSpeaks,
      { type: "text.delta", ...block, text: "Dr" },
      { type: "text.finished", ...block, text: "Draft" },
    ];
    expect(reported(...events).text).toBe("Draft");
    const replaced = { type: "message.replaced", messageId: "m", text: "Final" } as const;
    expect(reported(...events, replaced).text).toBe("Final");
  });

  it("The report contains no text of messages that are not from the agent", () => {
    const event = { type: "message.started", messageId: "u", role: "user" } as const;
    const text = { type: "text.finished", messageId: "u", block: 0, text: "Not this" } as const;
    expect(reported(started, event, text).text).toBe("");
  });

  it("Events after the end of the turn are ignored", () => {
    const end: SessionEvent = {
      type: "turn.finished",
      turnId: "turn_1",
      outcome: "limited",
      reason: "max_steps",
      usage: null,
      steps: 20,
    };
    const later = { type: "text.finished", messageId: "m", block: 0, text: "Later" } as const;
    expect(reported(started, agentSpeaks, end, later)).toMatchObject({
      outcome: "limited",
      reason: "max_steps",
      text: "",
    });
  });
});
