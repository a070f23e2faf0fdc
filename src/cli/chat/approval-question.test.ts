import { describe, expect, it } from "vitest";
import type { PermissionRequest } from "../../host/index.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createApprovalQuestion } from "./approval-question.ts";

const RATIONALE: NonNullable<PermissionRequest["rationale"]> = {
  action: "ask",
  reason: "It writes",
  rule: { id: "no-writes" },
  labels: [],
  prompt: "Look twice",
  risk: "high",
  context: {},
};

function asked(more: Partial<PermissionRequest> = {}): PermissionRequest {
  return {
    sessionId: "s",
    approval: {
      id: "t1",
      action: "save",
      args: { path: "a" },
      truncated: null,
      attempt: 1,
      principal: null,
      requestedAt: null,
      deadline: null,
      approversRequired: 1,
      evidence: [],
      capabilities: [],
      undo: {},
    },
    rationale: RATIONALE,
    options: [
      { id: "allow", name: "Allow", kind: "allow_once" },
      { id: "allow-always", name: "Always allow save", kind: "allow_always" },
      { id: "deny", name: "Deny", kind: "reject_once" },
    ],
    isYesOrNo: true,
    isFromBridge: true,
    context: { content: [], mutation: null, paths: ["a"] },
    ...more,
  };
}

describe("An approval question in a chat", () => {
  it("A question of a worker names the worker and its agent", () => {
    const worker = { id: "worker_1", name: "thin\u001bker", agent: "reviewer" };
    const context = { content: [], mutation: null, paths: [], worker };
    const { rows } = createApprovalQuestion(asked({ context }), PLAIN_STYLE);
    expect(rows.slice(0, 3)).toEqual([
      "── Spanline asks ──",
      String.raw`  The worker thin\u{1b}ker (reviewer) asks:`,
      '  save {"path":"a"}',
    ]);
  });

  it("A question shows the tool call, the reason, the rule and the choices", () => {
    const { rows, prompt } = createApprovalQuestion(asked(), PLAIN_STYLE);
    expect(rows).toEqual([
      "── Spanline asks ──",
      '  save {"path":"a"}',
      "  Why: It writes",
      "  Look twice",
      "  Risk: high",
      "  Rule: no-writes",
      "  Paths: a",
      "  y  Allow",
      "  a  Always allow save",
      "  n  Deny",
    ]);
    expect(prompt).toBe("Run save? [y/a/n] ");
  });

  it("A question by the session mode names the mode and no rule", () => {
    const reason = 'The session is in the mode "ask": save does more than read';
    const rule = { source: "session_mode", id: "ask", index: 0 };
    const rationale = { ...RATIONALE, reason, rule, labels: ["session_mode"] };
    const { rows } = createApprovalQuestion(asked({ rationale }), PLAIN_STYLE);
    expect(rows).toContain(`  Why: ${reason}`);
    expect(rows.join("\n")).not.toContain("Rule:");
    const byDefault = { ...rationale, reason: "No rule matches save", rule: null };
    expect(createApprovalQuestion(asked({ rationale: byDefault }), PLAIN_STYLE).rows).toContain(
      '  Why: The session is in the mode "ask"',
    );
  });

  it("Only a listed letter or word approves", () => {
    const { read } = createApprovalQuestion(asked(), PLAIN_STYLE);
    const answers = ["y", " YES ", "allow", "a", "always", "n", "no"].map(read);
    const [once, always, no] = ["allow", "allow-always", "deny"].map((option) => ({ option }));
    expect(answers).toEqual([once, once, once, always, always, no, no]);
    expect(["", " ", "yy", "ye", "1", "d", "ok"].map(read)).toEqual(Array(7).fill(undefined));
  });

  it("A question that is not yes or no offers its own options", () => {
    const options = [
      { id: "done", name: "It was done", kind: "allow_once" },
      { id: "failed", name: "It failed", kind: "reject_once" },
      { id: "run-again", name: "Run it again", kind: "allow_once" },
    ];
    const { prompt, read } = createApprovalQuestion(asked({ options }), PLAIN_STYLE);
    expect(prompt).toBe("Continue? [d/f/r] ");
    expect(["d", "run-again", "y"].map(read)).toEqual([
      { option: "done" },
      { option: "run-again" },
      undefined,
    ]);
  });

  it("A reached budget is a question of its own and not a tool to run", () => {
    const action = "This turn has used 1 of 1 invocation; continue with 1 more invocation?";
    const options = [
      { id: "continue", name: "Continue", kind: "allow_once" },
      { id: "stop", name: "Stop the turn", kind: "reject_once" },
    ];
    const approval = { ...asked().approval, action, args: {} };
    const { rows, prompt } = createApprovalQuestion(asked({ approval, options }), PLAIN_STYLE);
    expect(rows[1]).toBe(`  ${action}`);
    expect(prompt).toBe("Continue? [y/n] ");
  });

  it("A letter selects its own option, whatever the agent names the others", () => {
    const options = [
      { id: "n", name: "No", kind: "allow_once" },
      { id: "reject", name: "y", kind: "reject_once" },
    ];
    const { read, prompt } = createApprovalQuestion(asked({ options }), PLAIN_STYLE);
    expect(prompt).toBe("Run save? [y/n] ");
    expect(["y", "n"].map(read)).toEqual([{ option: "n" }, { option: "reject" }]);
    expect(read("no")).toBeUndefined();
  });

  it("The letter for the full text differs from the letters of the options", () => {
    const options = ["done", "verify", "undo"].map((id) => ({ id, name: id, kind: "allow_once" }));
    const context = { ...asked().context, input: { text: "x".repeat(3000) } };
    const { prompt, read } = createApprovalQuestion(asked({ options, context }), PLAIN_STYLE);
    expect(prompt).toBe("Continue? [d/v/u/a] ");
    expect(["v", "a"].map(read)).toEqual([{ option: "verify" }, "show"]);
  });

  it("Enter alone selects nothing, and a letter selects its own option, whatever the options are named", () => {
    const options = [
      { id: "", name: "n", kind: "allow_once" },
      { id: "deny", name: "", kind: "reject_once" },
    ];
    const { rows, read } = createApprovalQuestion(asked({ options }), PLAIN_STYLE);
    expect(rows.slice(-2)).toEqual(["  y  n", "  n  "]);
    expect(["", " ", "n", "y"].map(read)).toEqual([
      undefined,
      undefined,
      { option: "deny" },
      { option: "" },
    ]);
  });

  it("Options are escaped, even if there are more options than letters", () => {
    const options = Array.from({ length: 30 }, (_, at) => ({
      id: `\u001b[2J${at}`,
      name: `\u001b[2J${at}`,
      kind: "reject_once",
    }));
    const { rows, prompt } = createApprovalQuestion(asked({ options }), PLAIN_STYLE);
    expect([...rows, prompt].join("\n")).not.toContain("\u001b");
  });

  it("The full text is shown on request", () => {
    const context = { ...asked().context, input: { text: "x".repeat(3000) } };
    const { fullRows, prompt, read } = createApprovalQuestion(asked({ context }), PLAIN_STYLE);
    expect(prompt).toBe("Run save? [y/a/n/d] ");
    expect(read("d")).toBe("show");
    expect(fullRows).toEqual([`  text: ${"x".repeat(3000)}`]);
  });
});
