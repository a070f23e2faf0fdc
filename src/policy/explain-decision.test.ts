import { expect, it } from "vitest";
import type { PolicyDecision } from "../domain/policy/policy-decision.ts";
import { explainDecision } from "./explain-decision.ts";

const decision: PolicyDecision = {
  action: "ask",
  reason: "workspace edit",
  rule: { source: "rules", action: "ask", id: "edit-src", index: 2 },
  labels: ["approval_required", "path_rule"],
  approvers: 2,
  approval: { prompt: "Really?", risk: "high" },
  context: {
    tool: "edit_file",
    kind: "edit",
    sideEffect: "workspace_write",
    capabilities: [],
    paths: [
      {
        argument: "path",
        input: "link",
        location: "inside",
        workspacePath: "src/a",
        hostPath: "/work/src/a",
      },
      {
        argument: "to",
        input: "x",
        location: "invalid",
        workspacePath: null,
        hostPath: null,
        reason: "a loop",
      },
    ],
    repeats: 3,
  },
};

it("A decision is explained in plain lines", () => {
  expect(explainDecision(decision)).toEqual([
    "ask: workspace edit",
    "by: rules[2] edit-src",
    "needs: approval by 2 different people",
    "prompt: Really?",
    "risk: high",
    "tool: edit_file (edit, workspace_write)",
    "path: path link → src/a (inside)",
    "path: to x (invalid: a loop)",
    "called before: 3 times",
    "labels: approval_required, path_rule",
  ]);
});

it("The default, path checks, commands and URLs are explained too", () => {
  const context: PolicyDecision["context"] = {
    ...decision.context,
    tool: "run_command",
    paths: [],
    command: "rm $X",
    simpleCommands: [{ program: "rm", words: ["rm", "\uFFFC"] }],
    commandUnparsed: "it sets X",
    urls: ["https://example.com/"],
    domains: ["example.com"],
    method: "GET",
    mcpServer: "github",
    mcpTool: "x",
    repeats: 0,
  };
  const plain: PolicyDecision = {
    action: "allow",
    reason: "fine",
    rule: null,
    labels: [],
    context,
    approvers: 0,
  };
  expect(explainDecision(plain)).toEqual([
    "allow: fine",
    "by: the default",
    "tool: run_command (edit, workspace_write)",
    "runs: rm …",
    "uncertain: it sets X",
    "address: GET https://example.com/",
    "MCP: x of github",
  ]);
  const rule = {
    source: "default_sensitive_path",
    action: "deny",
    id: null,
    index: 0,
    layer: 1,
  } as const;
  expect(explainDecision({ ...plain, rule })[1]).toBe("by: default_sensitive_path of policy 2");
});

it("No text of a tool call can move the cursor or add a line", () => {
  const context = { ...decision.context, tool: "x\n\u001B[2Jallow: fine\u202E", paths: [] };
  expect(explainDecision({ ...decision, context })[5]).toBe(
    "tool: x\\u000a\\u001b[2Jallow: fine\\u202e (edit, workspace_write)",
  );
});
