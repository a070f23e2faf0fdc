import { describe, expect, it } from "vitest";
import {
  changeDecisionLog,
  EMPTY_LOG,
  isSettling,
  type DecisionLog,
  type DecisionLogChange,
  type DecisionRecord,
} from "./decision-log.ts";

const request = { key: "ses_1/a", votes: 0, label: "Allow" };
const record: DecisionRecord = {
  key: "ses_1/a",
  sessionId: "ses_1",
  label: "Allow",
  isApproval: true,
  sentence: "Edit README.md?",
  at: 1,
};
const error = { code: "conflict", message: "This approval is not open" };
const accepted: DecisionLogChange = {
  type: "finished",
  request,
  result: { ok: true, value: undefined },
  record,
};
const refused: DecisionLogChange = {
  type: "finished",
  request,
  result: { ok: false, error },
  record,
};

function apply(...changes: readonly DecisionLogChange[]): DecisionLog {
  let log = EMPTY_LOG;
  for (const change of changes) log = changeDecisionLog(log, change);
  return log;
}

const started: DecisionLogChange = { type: "started", request };

describe("The decisions of a page", () => {
  it("A decision has the state sending until the reply, then sent until its request is closed", () => {
    expect(apply(started).statuses.get("ses_1/a")?.phase).toBe("sending");
    expect(apply(started, accepted).statuses.get("ses_1/a")?.phase).toBe("sent");
    const open = new Map<string, number>();
    expect(apply(started, accepted, { type: "listed", open })).toEqual({
      statuses: new Map(),
      history: [record],
    });
  });

  it("A request that is closed before the reply is still recorded in the history", () => {
    const log = apply(started, { type: "listed", open: new Map() }, accepted);
    expect(log).toEqual({ statuses: new Map(), history: [record] });
  });

  it("An error stays while the request is unchanged, and allows another try", () => {
    const log = apply(started, refused, { type: "listed", open: new Map([["ses_1/a", 0]]) });
    expect(log.statuses.get("ses_1/a")).toEqual({ phase: "failed", error, votes: 0 });
    expect(isSettling(log.statuses.get("ses_1/a"))).toBe(false);
    expect(log.history).toEqual([]);
  });

  it("An error leaves when a new vote arrives, the connection returns or the person closes it", () => {
    for (const change of [
      { type: "listed", open: new Map([["ses_1/a", 1]]) },
      { type: "reconnected" },
      { type: "dismissed", key: "ses_1/a" },
    ] as const) {
      expect(apply(started, refused, change).statuses.size).toBe(0);
    }
  });

  it("A decision that is being sent survives a reconnect", () => {
    expect(isSettling(apply(started, { type: "reconnected" }).statuses.get("ses_1/a"))).toBe(true);
  });

  it("A list without a change keeps the same value, so that nothing renders again", () => {
    const log = apply(started);
    expect(changeDecisionLog(log, { type: "listed", open: new Map([["ses_1/a", 0]]) })).toBe(log);
  });

  it("The history is limited to the last 20 decisions", () => {
    const log = apply(...Array.from({ length: 30 }, () => accepted));
    expect(log.history).toHaveLength(20);
  });
});
