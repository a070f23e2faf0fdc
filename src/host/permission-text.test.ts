import { describe, expect, it } from "vitest";
import { readPermissionQuestion } from "../wire/acp/client/permission-question.ts";
import { permissionText } from "./permission-text.ts";

function lines(approvalRequest: object, more: object = {}): readonly string[] {
  const params = JSON.parse(JSON.stringify({ sessionId: "s", approvalRequest, ...more }));
  const question = readPermissionQuestion(params);
  if (!question.ok) throw new Error(question.error.message);
  return permissionText(question.value);
}

const REQUEST = { id: "t", action: "edit_file", args: { path: "a.ts" } };

describe("a permission as text", () => {
  it("has what is asked, and why, and nothing of the call beside it [B-111]", () => {
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
      "asked by coder",
      "because: workspace edit",
      "by edit-src of rules",
      "path_rule",
      "workspace_path: a.ts",
      "needs workspace.write_text",
      "2 people have to allow it",
      "denied if nobody answers by 2026-04-30T12:10:00Z",
    ]);
    expect(lines(REQUEST)).toEqual(['edit_file {"path":"a.ts"}']);
  });

  it("has the options of a question that takes one of them", () => {
    const options = [
      { optionId: "done", name: "It was done", kind: "allow_once" },
      { optionId: "failed", name: "It failed", kind: "reject_once" },
      { optionId: "run-again", name: "Run it again", kind: "allow_once" },
    ];
    const action = "open_file was running when the bridge was killed. What came of it?";
    expect(lines({ ...REQUEST, action, deadline: "noon" }, { options })).toEqual([
      `${action} {"path":"a.ts"}`,
      "one of: done (It was done), failed (It failed), run-again (Run it again)",
      "given up if nobody answers by noon",
    ]);
  });

  it("cannot draw on a terminal, and stays within its lines", () => {
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
