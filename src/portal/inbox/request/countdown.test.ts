import { describe, expect, it } from "vitest";
import {
  createQuestion,
  createRequest,
  SAMPLE_TIME,
} from "../../../../test/support/portal/inbox-items.ts";
import { formatAge, formatCountdown, formatRemaining } from "./countdown.ts";

const MINUTE = 60_000;

describe("The countdown of a request", () => {
  it.each([
    [createRequest(), "Denied in 4 min"],
    [createRequest({ question: "outcome" }), "Outcome stays unknown in 4 min"],
    [createRequest({ question: "budget" }), "Turn stops in 4 min"],
    [createQuestion({}), "Closed without an answer in 2 h"],
    [createQuestion({ default: "Bern" }), "Default answer used in 2 h"],
    [createQuestion({ kind: "approval" }), "Not approved in 2 h"],
    [createQuestion({ kind: "escalation" }), "Waits until someone accepts, without a deadline"],
  ])("The countdown names the outcome without a decision (%#)", (request, text) => {
    expect(formatCountdown(request, SAMPLE_TIME).text).toBe(text);
  });

  it("The countdown becomes urgent in the last minutes, and names the outcome after the deadline", () => {
    const request = createRequest({ deadline: SAMPLE_TIME });
    const at = (left: number) => formatCountdown(request, SAMPLE_TIME - left);
    expect(at(10 * MINUTE).urgency).toBe("calm");
    expect(at(5 * MINUTE).urgency).toBe("soon");
    expect(at(20_500)).toEqual({ text: "Denied in 20 s", urgency: "now", nextChangeMs: 501 });
    expect(at(0)).toEqual({ text: "Deadline passed: denied", urgency: "over" });
  });

  it("The countdown rounds the remaining time down", () => {
    expect(formatRemaining(5 * MINUTE - 1).text).toBe("4 min");
    expect(formatRemaining(125 * MINUTE).text).toBe("2 h 5 min");
    expect(formatRemaining(3 * 24 * 60 * MINUTE).text).toBe("3 days");
  });

  it("The text of the countdown changes when the next unit begins", () => {
    expect(formatRemaining(5 * MINUTE + 3000).nextChangeMs).toBe(3001);
    expect(formatRemaining(1500).nextChangeMs).toBe(501);
  });

  it("The age of a request is never negative", () => {
    expect(formatAge(SAMPLE_TIME + 1000, SAMPLE_TIME)).toBe("just now");
    expect(formatAge(SAMPLE_TIME, SAMPLE_TIME + 30_000)).toBe("30 s ago");
    expect(formatAge(SAMPLE_TIME, SAMPLE_TIME + 3 * MINUTE)).toBe("3 min ago");
    expect(formatAge(SAMPLE_TIME, SAMPLE_TIME + 150 * MINUTE)).toBe("2 h ago");
  });
});
