import { describe, expect, it } from "vitest";
import {
  encodeAcpUpdates,
  HOST_PROFILE,
} from "../../../../../test/support/acp/encode-acp-updates.ts";
import type { ApprovalRequested } from "../../../../domain/events/approval-events.ts";
import type { SessionEvent } from "../../../../domain/events/session-event.ts";
import { STOCK_CLIENT } from "../../decode/client-profile.ts";
import { encodePermissionRequest } from "./encode-permission-request.ts";

const approvalRequest: ApprovalRequested = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "lost-invocation",
  options: ["continue", "stop"],
  subjectId: "call_1",
  action: "go on",
  input: null,
  deadline: 60_000,
};
const events: readonly SessionEvent[] = [
  approvalRequest,
  { type: "approval.resolved", approvalId: "appr_1", decision: "continue", resolvedBy: "person" },
];

function shape(value: object): string[] {
  return Object.keys(value).toSorted();
}

describe("Question that is not about the start of a tool", () => {
  it("Bridge hosts receive the question under its approval id, and its outcome [B-047] [B-048] [B-093]", () => {
    const [request, resolved, ...others] = encodeAcpUpdates(events, HOST_PROFILE).map(
      (update) => [update.sessionUpdate, Object(update)["_meta"].harn] as const,
    );
    const place = { requestId: "appr_1", kind: "question" };
    const approval = { id: "appr_1", action: "go on", args: {}, approvers_required: 1 };
    expect(request).toMatchObject([
      "hitl_request",
      { ...place, payload: { approval_request: approval } },
    ]);
    expect(resolved).toEqual(["hitl_resolved", { ...place, outcome: "answered" }]);
    expect(others).toEqual([]);
  });

  it("The question has the same shape as an approval request about a tool [B-112]", () => {
    const context = {
      tool: "save",
      kind: "edit",
      sideEffect: "workspace_write",
      paths: [],
      capabilities: [],
      repeats: 0,
    } as const;
    const decision = {
      action: "ask",
      reason: "",
      rule: null,
      labels: [],
      context,
      approvers: 1,
    } as const;
    const about = {
      ...approvalRequest,
      question: "run",
      subjectId: "t1",
      input: {},
      decision,
    } as const;
    const place = { sessionId: "s", at: 0, turnId: null, agent: undefined, workspace: undefined };
    const { params } = encodePermissionRequest(about, place);
    const [update] = encodeAcpUpdates(events, HOST_PROFILE);
    const { approval_request: own } = Object(update)["_meta"].harn.payload;
    expect(shape(own)).toEqual(shape(Object(params).approvalRequest));
    expect(shape(own.undo_metadata)).toEqual(shape(Object(params).approvalRequest.undo_metadata));
  });

  it("Stock clients do not receive these questions, and hosts do not receive questions about the start of a tool", () => {
    expect(encodeAcpUpdates(events, STOCK_CLIENT)).toEqual([]);
    expect(encodeAcpUpdates([{ ...approvalRequest, question: "run" }], HOST_PROFILE)).toEqual([]);
  });
});
