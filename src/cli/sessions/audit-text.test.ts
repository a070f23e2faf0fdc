import { describe, expect, it } from "vitest";
import { auditLog } from "../../bridge/audit/audit-log.ts";
import type { SigningKeys } from "../../bridge/audit/signing-keys.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { PolicyDecided } from "../../domain/events/tool-events.ts";
import type { PolicyContext } from "../../domain/policy/policy-decision.ts";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { digestValue } from "../../platform/digest.ts";
import { createCallNames, formatAuditEntry } from "./audit-text.ts";

const NO_INPUT = {};

const keys: SigningKeys = {
  keys: [],
  sign: () => ({ keyId: "", mac: "" }),
  check: () => "unknown-key",
};

function printAudit(...events: readonly SessionEvent[]): string[] {
  const audit = auditLog(keys);
  const names = createCallNames();
  return events.flatMap((event, at) => {
    names.take(event);
    const { entry } = audit.take({
      sessionId: "s",
      seq: at + 1,
      at: 0,
      visibility: "public",
      event,
    });
    return entry === undefined
      ? []
      : [formatAuditEntry(entry, names.resolveName, PLAIN_STYLE).slice(47, -1)];
  });
}

function decided(context: Partial<PolicyContext>): PolicyDecided {
  const decision = {
    action: "ask",
    reason: "Why",
    rule: null,
    labels: [],
    approvers: 1,
    context: {
      tool: "run",
      kind: "execute",
      sideEffect: "process_exec",
      paths: [],
      capabilities: [],
      repeats: 0,
      ...context,
    },
  } as const;
  return {
    type: "policy.decided",
    toolCallId: "tool_1",
    digest: digestValue(NO_INPUT),
    agent: "a",
    decision,
  };
}

const path = {
  argument: "path",
  input: "./a.ts",
  location: "inside",
  workspacePath: "src/a.ts",
  hostPath: "/w/src/a.ts",
} as const;

describe("A line of an audit", () => {
  it("A decision line names the command, file or URL on one line", () => {
    expect(
      printAudit(
        decided({ command: "git push\n--force" }),
        decided({ tool: "edit", paths: [path] }),
        decided({ tool: "fetch", urls: ["https://example.com/"] }),
        decided({ command: "x".repeat(500) }),
      ),
    ).toEqual([
      "run git push\\u{a}--force: ask (the default): Why",
      "edit src/a.ts: ask (the default): Why",
      "fetch https://example.com/: ask (the default): Why",
      `run ${"x".repeat(116)}…: ask (the default): Why`,
    ]);
  });

  it("An MCP tool call shows its arguments and the grant that allowed it", () => {
    const input = { shell: "ls" };
    const toolCall = { id: "c", name: "one__sh", input, inputText: "", runBy: "client" } as const;
    const called = {
      type: "tool_call.received",
      toolCallId: "tool_1",
      messageId: "m",
      block: 0,
      toolCall,
    } as const;
    const scope = { tool: "one__sh", rule: null };
    const grantEvent = {
      type: "grant.added",
      grantId: "grant_1",
      approvalId: "appr_1",
      scope,
    } as const;
    const mcp = decided({ tool: "one__sh", mcpServer: "one", mcpTool: "sh" });
    const judged = { ...mcp, digest: digestValue(input), grantId: "grant_1" };
    const decisionLine = 'one__sh {"shell":"ls"}: ask (the default): Why, ';
    expect(printAudit(called, grantEvent, judged)).toEqual([
      "one__sh: always allowed as grant_1",
      `${decisionLine}as grant_1 by an unknown principal at 1970-01-01T00:00:00.000Z`,
    ]);
    expect(printAudit(called, judged)).toEqual([
      `${decisionLine}by a grant that this log does not contain`,
    ]);
    expect(printAudit(called, mcp)[0]).toContain(
      "the arguments of this call in the log differ from the evaluated arguments",
    );
  });

  it("Tool results and invalidated approvals have separate lines", () => {
    const result = { toolCallId: "c1", parts: [], isError: true };
    const finished = { toolCallId: "tool_1", ending: "failed", result } as const;
    expect(
      printAudit(
        decided({ command: "git push" }),
        { type: "tool.finished", ...finished },
        { type: "approvals.invalidated", seq: 7 },
      ),
    ).toEqual([
      "run git push: ask (the default): Why",
      "run git push: finished (failed)",
      "receipts from event 7 on are not verified: earlier approvals do not count",
    ]);
  });

  it("An approval and its decision name the command", () => {
    const approvalRequest = {
      type: "approval.requested",
      approvalId: "appr_1",
      question: "run",
      options: ["allow", "deny"],
      subjectId: "tool_1",
      action: "run",
      input: null,
      deadline: 1,
    } as const;
    const answer = { approvalId: "appr_1", decision: "allow", resolvedBy: "person" } as const;
    expect(
      printAudit(decided({ command: "git push" }), approvalRequest, {
        type: "approval.resolved",
        ...answer,
      }),
    ).toEqual([
      "run git push: ask (the default): Why",
      "run git push: approval requested",
      "run git push: allow, answered",
    ]);
  });
});
