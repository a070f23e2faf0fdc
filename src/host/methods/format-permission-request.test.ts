import { describe, expect, it } from "vitest";
import { readPermissionRequest } from "../../wire/acp/client/read-permission-request.ts";
import { formatPermissionRequest } from "./format-permission-request.ts";

function lines(approvalRequest: object, more: object = {}): readonly string[] {
  const params = JSON.parse(JSON.stringify({ sessionId: "s", approvalRequest, ...more }));
  const question = readPermissionRequest(params);
  if (!question.ok) throw new Error(question.error.message);
  return formatPermissionRequest(question.value);
}

const REQUEST = { id: "t", action: "edit_file", args: { path: "a.ts" } };

describe("A permission request as text", () => {
  it("The text contains the request and its rationale, and no other field of the tool call [B-111]", () => {
    const request = {
      ...REQUEST,
      principal: "coder",
      deadline: "2026-04-30T12:10:00Z",
      approvers_required: 2,
      evidence_refs: [{ kind: "workspace_path", ref: "a.ts", metadata: {} }],
      capabilities_requested: ["workspace.write_text"],
    };
    const policyDecision = {
      reason: "workspace edit",
      matched_rule: { source: "rules", id: "edit-src", index: 0 },
      risk_labels: ["path_rule"],
    };
    const toolCall = { toolCallId: "t", title: "Something harmless" };
    expect(lines(request, { policyDecision, toolCall })).toEqual([
      'edit_file {"path":"a.ts"}',
      "requested by coder",
      "because: workspace edit",
      "rule: edit-src of rules",
      "path_rule",
      "workspace_path: a.ts",
      "needs workspace.write_text",
      "2 people must approve",
      "denied without a decision by 2026-04-30T12:10:00Z",
    ]);
    expect(lines(REQUEST)).toEqual(['edit_file {"path":"a.ts"}']);
  });

  it("The text names the worker which asks, with its agent", () => {
    const worker = { id: "w_1", name: "thinker", agent: "reviewer" };
    const toolCall = { toolCallId: "t", _meta: { harn: { worker } } };
    expect(lines({ ...REQUEST, principal: "w_1" }, { toolCall })).toEqual([
      'edit_file {"path":"a.ts"}',
      "requested by the worker thinker (reviewer)",
    ]);
  });

  it("The text lists the options of a request with more choices than once, always and no", () => {
    const options = [
      { optionId: "run-again", name: "Run it again", kind: "allow_once" },
      { optionId: "deny", name: "Do not run it again", kind: "reject_once" },
      { optionId: "done", name: "It was done", kind: "reject_once" },
    ];
    const action = "open_file may already have run; allowing runs it again";
    expect(lines({ ...REQUEST, action, deadline: "noon" }, { options })).toEqual([
      `${action} {"path":"a.ts"}`,
      "options: Run it again, Do not run it again, It was done",
      "denied without a decision by noon",
    ]);
  });

  it("The text says when the arguments are only a preview", () => {
    const truncated = { previews: ["approvalRequest.args"], bytes: 9000, shownBytes: 10 };
    expect(lines({ ...REQUEST, _meta: { harn: { truncated } } })).toEqual([
      'edit_file {"path":"a.ts"}',
      "a preview: all arguments have 9000 bytes",
    ]);
  });

  it("Control characters in a request cannot move the cursor or start new lines", () => {
    const text = lines({
      ...REQUEST,
      action: "rm\u001b[2K\rls\nallow",
      args: { path: "\u001b[1A\u009b2K\u202e" },
      principal: "a\u2028b",
    }).join("\n");
    expect(text).not.toMatch(/[\p{Cf}\p{Zl}]|(?!\n)\p{Cc}/u);
    expect(text.split("\n")).toHaveLength(2);
  });
});
