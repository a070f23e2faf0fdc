import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { ApprovalQuestion } from "../../../domain/policy/approval-decision.ts";
import type { JsonValue } from "../../../data/json.ts";
import { decodePermissionResponse } from "../decode/decode-permission-response.ts";
import { encodePermissionRequest } from "../encode/permissions/encode-permission-request.ts";
import { readPermissionRequest } from "./read-permission-request.ts";
import {
  encodePermissionResult,
  encodeCancelledResult,
  type PermissionReply,
} from "./permission-reply.ts";

const OPTIONS: { readonly [Each in ApprovalQuestion]: ApprovalRequested["options"] } = {
  run: ["allow", "allow-always", "deny"],
  outcome: ["run-again", "deny", "done", "failed"],
  question: ["answer", "decline"],
  "lost-invocation": ["continue", "reseed", "stop"],
  budget: ["continue", "stop"],
};

const DECISION: NonNullable<ApprovalRequested["decision"]> = {
  action: "ask",
  reason: "it writes",
  rule: { source: "rules", action: "ask", id: "r", index: 0 },
  labels: [],
  context: {
    tool: "save",
    kind: "edit",
    sideEffect: "workspace_write",
    paths: [],
    capabilities: [],
    repeats: 0,
  },
  approvers: 1,
};

function createRequest(question: ApprovalQuestion): ApprovalRequested {
  return {
    type: "approval.requested",
    approvalId: "appr_1",
    question,
    options: OPTIONS[question],
    subjectId: "tool_1",
    action: "save",
    input: { a: 1 },
    deadline: 0,
    ...(question === "run" && { decision: DECISION }),
  };
}

/** The decision that Spanline's ACP surface decodes from a host's reply to its own request. */
function decided(question: ApprovalQuestion, reply: PermissionReply | "put away"): unknown {
  const approval = createRequest(question);
  const agent: AgentSpec | undefined = undefined;
  const place = { sessionId: "ses_1", at: 0, turnId: null, agent, workspace: undefined };
  const { params } = encodePermissionRequest(approval, place);
  const sent = readPermissionRequest(JSON.parse(JSON.stringify(params)));
  if (!sent.ok) throw new Error(sent.error.message);
  const result: JsonValue =
    reply === "put away"
      ? encodeCancelledResult()
      : encodePermissionResult(sent.value, reply).result;
  return decodePermissionResponse(approval, { ok: true, result });
}

describe("Host replies decoded by the ACP surface", () => {
  it.each<[PermissionReply | "put away", unknown]>([
    ["allow", { decision: "allow" }],
    ["always", { decision: "allow-always" }],
    ["deny", { decision: "deny", reason: "The client denied the request" }],
    [{ deny: "not now" }, { decision: "deny", reason: "not now" }],
    [{ allow: { a: 2 } }, { decision: "allow", input: { a: 2 } }],
    [{ option: "allow" }, { decision: "allow" }],
    [{ option: "else" }, { decision: "deny", reason: 'The option "else" was not offered' }],
    ["put away", expect.objectContaining({ decision: "deny", endsTurn: true })],
  ])("The reply %j decides about a tool [B-113] [B-115] [B-116]", (reply, decision) => {
    expect(decided("run", reply)).toEqual(decision);
  });

  it.each<[PermissionReply, unknown]>([
    ["allow", { decision: "run-again" }],
    ["always", { decision: "run-again" }],
    ["deny", { decision: "deny", reason: "The client denied the request" }],
    [{ deny: "no" }, { decision: "deny", reason: "no" }],
    [{ allow: { a: 2 } }, { decision: "run-again", input: { a: 2 } }],
    [{ option: "failed" }, { decision: "failed" }],
  ])(
    "The reply %j decides about a tool that may already have run [B-114] [B-116]",
    (reply, decision) => {
      expect(decided("outcome", reply)).toEqual(decision);
    },
  );

  it.each<[PermissionReply, unknown]>([
    ["allow", { decision: "continue" }],
    ["deny", { decision: "stop", reason: "The client denied the request" }],
    [{ option: "reseed" }, { decision: "reseed" }],
  ])("The reply %j decides about a lost invocation [B-114] [B-116]", (reply, decision) => {
    expect(decided("lost-invocation", reply)).toEqual(decision);
  });
});
