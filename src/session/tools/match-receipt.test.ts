import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import { digestValue } from "../../platform/digest.ts";
import { fitsToolCall } from "./match-receipt.ts";
import { initialToolsState, type ToolRun, type ToolsState } from "./tools-state.ts";

const INPUT = { text: "tea" };
const DIGEST = digestValue(INPUT);
const TOOL_CALL = createToolCall({
  id: "c1",
  name: "write",
  inputText: JSON.stringify(INPUT),
  runBy: "client",
});
const RUN: ToolRun = {
  toolCallId: "tool_1",
  name: "write",
  status: "approved",
  toolCall: TOOL_CALL,
  input: INPUT,
  attempt: 0,
  evaluation: { tool: "write", agent: "a", mode: "default", digest: DIGEST, action: "ask" },
};
const DECISION: PolicyDecision = {
  action: "ask",
  reason: "",
  rule: null,
  labels: [],
  approvers: 1,
  context: {
    tool: "write",
    kind: "other",
    sideEffect: "network",
    paths: [],
    capabilities: [],
    repeats: 0,
  },
};
const DECIDED: SessionEvent = {
  type: "policy.decided",
  toolCallId: "tool_1",
  digest: DIGEST,
  agent: "a",
  decision: DECISION,
};
const REQUESTED: SessionEvent = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  options: ["allow", "deny"],
  subjectId: "tool_1",
  action: "write",
  input: INPUT,
  decision: DECISION,
  deadline: 1,
};
const STARTED: SessionEvent = {
  type: "tool.started",
  toolCallId: "tool_1",
  attempt: 1,
  digest: DIGEST,
};
const RECEIVED: SessionEvent = {
  type: "tool_call.received",
  toolCallId: "tool_1",
  messageId: "msg_1",
  block: 0,
  toolCall: TOOL_CALL,
};
const OPENED: SessionEvent = {
  type: "tool_call.opened",
  toolCallId: "tool_1",
  messageId: "msg_1",
  block: 0,
  name: "write",
};

function stateWith(...runs: readonly ToolRun[]): ToolsState {
  return { ...initialToolsState, runs };
}

describe("A receipt and its tool call", () => {
  const receipts = [DECIDED, REQUESTED, STARTED].map((event) => [event.type, event] as const);

  it.each(receipts)("%s fits its own tool call [W-09]", (_, event) => {
    expect(fitsToolCall(event, stateWith(RUN))).toBe(true);
  });

  it.each(receipts)("%s does not fit a call with another tool [W-09]", (_, event) => {
    expect(fitsToolCall(event, stateWith({ ...RUN, name: "erase" }))).toBe(false);
  });

  it.each(receipts)("%s does not fit a call with other arguments [W-09]", (_, event) => {
    expect(fitsToolCall(event, stateWith({ ...RUN, input: { text: "wine" } }))).toBe(false);
  });

  it.each(receipts)("%s does not fit a call with another id [W-09]", (_, event) => {
    expect(fitsToolCall(event, stateWith({ ...RUN, toolCallId: "tool_2" }))).toBe(false);
  });

  it.each(receipts)("%s does not fit a call that is in the log twice [W-09]", (_, event) => {
    expect(fitsToolCall(event, stateWith(RUN, RUN))).toBe(false);
  });

  it("A start of a call that was never evaluated does not fit [W-09]", () => {
    const { evaluation: _, ...run } = RUN;
    expect(fitsToolCall(STARTED, stateWith(run))).toBe(false);
  });

  it("A question about a lost invocation is not about a tool call", () => {
    const question = { ...REQUESTED, question: "lost-invocation", subjectId: "call_1" } as const;
    expect(fitsToolCall(question, stateWith())).toBe(true);
  });

  it("A question about an outcome is about a tool call [W-09]", () => {
    const question = { ...REQUESTED, question: "outcome" } as const;
    expect(fitsToolCall(question, stateWith(RUN))).toBe(true);
    expect(fitsToolCall(question, stateWith({ ...RUN, name: "erase" }))).toBe(false);
  });
});

describe("A tool call in the log", () => {
  it("A call is opened once and received once [W-09]", () => {
    const opened = stateWith({ ...RUN, status: "opened", toolCall: null, input: null });
    expect(fitsToolCall(OPENED, stateWith())).toBe(true);
    expect(fitsToolCall(OPENED, opened)).toBe(false);
    expect(fitsToolCall(RECEIVED, stateWith())).toBe(true);
    expect(fitsToolCall(RECEIVED, opened)).toBe(true);
    expect(fitsToolCall(RECEIVED, stateWith(RUN))).toBe(false);
  });
});
