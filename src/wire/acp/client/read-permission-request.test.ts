import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../data/json.ts";
import { readPermissionRequest } from "./read-permission-request.ts";

/** The example from the bridge documentation. */
const POLICY_DECISION = {
  type: "harn.permission_policy_decision.v1",
  action: "ask",
  reason: "workspace edit",
  matched_rule: { source: "rules", action: "ask", id: "edit-src", index: 0 },
  risk_labels: ["approval_required", "path_rule"],
};

const APPROVAL_REQUEST = {
  id: "tool-call_123",
  action: "edit_file",
  args: { path: "src/main.rs" },
  principal: "worker_3",
  requested_at: "2026-04-30T12:00:00Z",
  approvers_required: 1,
  evidence_refs: [
    {
      kind: "workspace_path",
      ref: "src/main.rs",
      metadata: { workspace_path: "src/main.rs" },
    },
  ],
  undo_metadata: {
    session_id: "session_123",
    run_id: "run_123",
    worker_id: null,
    mutation_scope: "apply_workspace",
    policy_decision: POLICY_DECISION,
  },
  capabilities_requested: ["workspace.write_text"],
};

const REQUEST = {
  sessionId: "session_123",
  approvalRequest: APPROVAL_REQUEST,
  policyDecision: { ...POLICY_DECISION, context: { tool_name: "edit_file" } },
  toolCall: {
    toolCallId: "call_123",
    toolName: "edit_file",
    rawInput: { path: "src/main.rs" },
  },
  mutation: { session_id: "session_123" },
  declaredPaths: ["src/main.rs"],
};

const APPROVAL = {
  id: "tool-call_123",
  action: "edit_file",
  args: { path: "src/main.rs" },
  truncated: null,
  attempt: 1,
  principal: "worker_3",
  requestedAt: "2026-04-30T12:00:00Z",
  deadline: null,
  approversRequired: 1,
  evidence: APPROVAL_REQUEST.evidence_refs,
  capabilities: ["workspace.write_text"],
  undo: APPROVAL_REQUEST.undo_metadata,
};

const RATIONALE = {
  action: "ask",
  reason: "workspace edit",
  rule: POLICY_DECISION.matched_rule,
  labels: ["approval_required", "path_rule"],
  prompt: null,
  risk: null,
  context: { tool_name: "edit_file" },
};

function question(params: JsonObject): unknown {
  const read = readPermissionRequest(params);
  return read.ok ? read.value : read.error;
}

describe("readPermissionRequest", () => {
  it("The rationale has the prompt and the risk of the matched rule", () => {
    const required = { approvers: 1, prompt: "Look twice", risk: "high" };
    const policyDecision = { ...POLICY_DECISION, required_approval: required };
    expect(question({ ...REQUEST, policyDecision })).toMatchObject({
      rationale: { prompt: "Look twice", risk: "high" },
    });
  });

  it("The approval is read from the request and the rationale from the policy decision [B-111]", () => {
    expect(question(REQUEST)).toEqual({
      sessionId: "session_123",
      approval: APPROVAL,
      rationale: RATIONALE,
      options: [],
      isYesOrNo: true,
      isFromBridge: true,
      context: {
        toolCallId: "call_123",
        input: { path: "src/main.rs" },
        content: [],
        mutation: { session_id: "session_123" },
        paths: ["src/main.rs"],
      },
    });
  });

  it("Truncated arguments have their size and the method that returns the whole arguments", () => {
    const fetch = { method: "session/approval_args", params: { approvalId: "a" } };
    const truncated = { previews: ["approvalRequest.args"], bytes: 9, shownBytes: 3, fetch };
    const request = (fields: JsonObject): JsonObject => ({
      ...REQUEST,
      approvalRequest: { ...APPROVAL_REQUEST, attempt: 2, _meta: { harn: { truncated: fields } } },
    });
    expect(question(request(truncated))).toMatchObject({
      approval: { attempt: 2, truncated: { bytes: 9, fetch } },
    });
    expect(question(request({ ...truncated, previews: ["toolCall.rawInput"] }))).toMatchObject({
      approval: { truncated: null },
    });
  });

  it("A request with only approvalRequest is complete [B-111]", () => {
    const { sessionId, approvalRequest } = REQUEST;
    expect(question({ sessionId, approvalRequest })).toMatchObject({
      approval: APPROVAL,
      // The policy receipt is part of `approvalRequest` too.
      rationale: { ...RATIONALE, context: {} },
      context: { content: [], mutation: null, paths: [] },
    });
  });

  it("Bridge fields are read from toolCall._meta.harn if the root fields were dropped [ACP-95]", () => {
    const { sessionId, toolCall, ...harn } = REQUEST;
    expect(question({ sessionId, toolCall: { ...toolCall, _meta: { harn } } })).toMatchObject({
      approval: APPROVAL,
      rationale: RATIONALE,
      isFromBridge: true,
    });
  });

  it("A plain ACP request is read from its tool call", () => {
    const toolCall = { toolCallId: "t", title: "Edit a file", rawInput: { a: 1 } };
    const options = [{ optionId: "a", name: "Allow", kind: "allow_once" }];
    expect(question({ sessionId: "s", toolCall, options })).toMatchObject({
      approval: { id: "t", action: "Edit a file", args: { a: 1 } },
      rationale: null,
      options: [{ id: "a", name: "Allow", kind: "allow_once" }],
      isFromBridge: false,
    });
  });

  it("A request without an action is rejected", () => {
    expect(question({ sessionId: "s" })).toMatchObject({ code: -32602 });
    expect(question({ toolCall: { toolCallId: "t" } })).toMatchObject({ code: -32602 });
    const approvalRequest = { args: {} };
    expect(question({ sessionId: "s", approvalRequest })).toMatchObject({ code: -32602 });
  });
});
