import { describe, expect, it } from "vitest";
import { acpProblems } from "../../../test/support/acp-schema.ts";
import type { AgentFacts, ApprovalRequested } from "../../domain/agent-event.ts";
import type { PolicyDecision } from "../../domain/policy-decision.ts";
import { requestLine } from "../jsonrpc/write-message.ts";
import { permissionRequest, type AskedPlace } from "./permission-request.ts";

const decision: PolicyDecision = {
  action: "ask",
  reason: "workspace edit",
  rule: { source: "rules", action: "ask", id: "edit-src", index: 0 },
  labels: ["approval_required", "path_rule"],
  context: {
    tool: "edit_file",
    kind: "edit",
    sideEffect: "workspace_write",
    paths: [
      {
        argument: "path",
        input: "src/../src/main.rs",
        place: "inside",
        workspacePath: "src/main.rs",
        hostPath: "/home/me/work/src/main.rs",
      },
    ],
    capabilities: ["workspace.write_text"],
    repeats: 0,
  },
  approvers: 1,
};

const asked: ApprovalRequested = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  options: ["allow", "allow-always", "deny"],
  about: "tool_1",
  action: "edit_file",
  input: { path: "src/../src/main.rs" },
  deadline: Date.UTC(2026, 3, 30, 12, 10),
  approvers: 1,
  decision,
  diffs: [{ path: "src/main.rs", oldText: "a", newText: "b" }],
};

const agent: AgentFacts = {
  name: "coder",
  provider: { name: "p", seams: [], effectFree: false, canStop: false },
  tools: [],
  approvals: { deny: ["rm"], ask: ["edit_*"], allow: ["read_file"], otherwise: "ask" },
  mutationScope: "apply_workspace",
  caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
  onLost: "ask",
  settle: "wait",
  approvalMs: 1000,
};

const place: AskedPlace = {
  sessionId: "ses_1",
  at: Date.UTC(2026, 3, 30, 12),
  turnId: "turn_1",
  agent,
  workspace: "/home/me/work",
};

/** As a client reads it. */
function params(change: Partial<ApprovalRequested> = {}, where: Partial<AskedPlace> = {}) {
  const { params: sent } = permissionRequest({ ...asked, ...change }, { ...place, ...where });
  return JSON.parse(JSON.stringify(sent));
}

const receipt = {
  type: "harn.permission_policy_decision.v1",
  action: "ask",
  reason: "workspace edit",
  matched_rule: { source: "rules", action: "ask", id: "edit-src", index: 0 },
  risk_labels: ["approval_required", "path_rule"],
  required_approval: { approvers: 1 },
  context: {
    tool_name: "edit_file",
    tool_kind: "edit",
    side_effect: "workspace_write",
    paths: [
      {
        input: "src/../src/main.rs",
        kind: "inside",
        workspace_path: "src/main.rs",
        host_path: "/home/me/work/src/main.rs",
      },
    ],
    capabilities: ["workspace.write_text"],
    repeat_count: 0,
  },
};

describe("a permission request", () => {
  it("says how far a yes for good goes [ACP-99]", () => {
    const named = (change: Partial<ApprovalRequested>): unknown =>
      params(change).options.find(({ kind }: { kind: string }) => kind === "allow_always").name;
    expect(named({ always: "edit_file of src/main.rs" })).toBe(
      "Always allow edit_file of src/main.rs in this session",
    );
    expect(named({})).toBe("Always allow edit_file in this session");
  });

  it("is one that ACP knows, with the options of every kind [ACP-94] [ACP-87] [W-26]", () => {
    const { method, params: sent } = permissionRequest(asked, place);
    expect(acpProblems({ jsonrpc: "2.0", id: 1, method, params: sent })).toEqual([]);
    const { toolCall, options } = params();
    expect(toolCall).toMatchObject({ title: "edit_file", kind: "edit" });
    expect(toolCall.content).toEqual([
      { type: "diff", path: "/home/me/work/src/main.rs", oldText: "a", newText: "b" },
    ]);
    expect(options.map(({ kind }: { kind: string }) => kind)).toEqual([
      "allow_once",
      "allow_always",
      "reject_once",
    ]);
  });

  it("has the fields of the Harn bridge, at the root and beside the call [B-088] [ACP-95] [W-26]", () => {
    const sent = params();
    const names = ["approvalRequest", "policyDecision", "mutation", "declaredPaths"];
    for (const name of names) {
      expect(sent).toHaveProperty(name);
      expect(sent.toolCall["_meta"].harn[name]).toEqual(sent[name]);
    }
    expect(sent.sessionId).toBe("ses_1");
  });

  it("names the call, its tool and its arguments [B-089]", () => {
    expect(params().toolCall).toMatchObject({
      toolCallId: "tool_1",
      toolName: "edit_file",
      rawInput: { path: "src/../src/main.rs" },
    });
  });

  it("has the writing session with its policy, or null [B-074] [B-075] [B-090]", () => {
    expect(params().mutation).toEqual({
      session_id: "ses_1",
      parent_session_id: null,
      run_id: "turn_1",
      worker_id: null,
      execution_kind: "session",
      mutation_scope: "apply_workspace",
      approval_policy: {
        auto_approve: ["read_file"],
        auto_deny: ["rm"],
        require_approval: ["edit_*"],
      },
    });
    const { mutationScope: _, ...reader } = agent;
    expect(params({}, { agent: reader }).mutation).toBeNull();
  });

  it("shows the lists of a policy, also one that lets nothing be written [B-075]", () => {
    const layer = {
      rules: [
        {
          source: "require_approval",
          index: 0,
          id: null,
          action: "ask",
          match: { tool: ["edit_*"] },
          reason: null,
          approvers: 1,
          approval: null,
        },
      ],
      writePathAllowlist: [],
      sensitivePathPatterns: [],
      allowSensitivePaths: false,
      externalRoots: [],
      allowExternalPaths: false,
      allowUnparsedCommands: false,
      repeatLimit: null,
      repeatAction: "ask",
      default: "ask",
    } as const;
    const open = { ...layer, writePathAllowlist: null };
    const shown = (one: typeof layer | typeof open) =>
      params({}, { agent: { ...agent, policy: { layers: [one] } } }).mutation.approval_policy;
    expect(shown(layer)).toEqual({
      auto_approve: [],
      auto_deny: [],
      require_approval: ["edit_*"],
      write_path_allowlist: [],
    });
    expect(shown(open)).not.toHaveProperty("write_path_allowlist");
  });

  it("lists the paths as they were found, not as they were said [B-091]", () => {
    expect(params().declaredPaths).toEqual(["src/main.rs"]);
  });

  it("has a request under the call's own id, with all that is shown of it [B-092] [B-094] [B-095] [B-096] [B-097] [B-098] [B-099] [B-100] [B-101] [B-102]", () => {
    expect(params().approvalRequest).toEqual({
      id: "tool_1",
      action: "edit_file",
      args: { path: "src/../src/main.rs" },
      principal: "coder",
      requested_at: "2026-04-30T12:00:00.000Z",
      deadline: "2026-04-30T12:10:00.000Z",
      approvers_required: 1,
      evidence_refs: [
        {
          kind: "workspace_path",
          ref: "src/main.rs",
          metadata: { workspace_path: "src/main.rs" },
        },
      ],
      undo_metadata: {
        session_id: "ses_1",
        run_id: "turn_1",
        worker_id: null,
        mutation_scope: "apply_workspace",
        policy_decision: receipt,
      },
      capabilities_requested: ["workspace.write_text"],
    });
    expect(params({ approvers: 3 }).approvalRequest.approvers_required).toBe(3);
  });

  it("says why it is asked, with the whole receipt in both places [B-103] [B-104] [B-105] [B-106] [B-107]", () => {
    const { policyDecision, approvalRequest } = params();
    expect(policyDecision).toEqual(receipt);
    expect(approvalRequest.undo_metadata.policy_decision).toEqual(policyDecision);
  });

  it("cuts long texts for the screen, and nowhere else", () => {
    const input = { text: "x".repeat(5000), ["__proto__"]: "kept" };
    const { approvalRequest, toolCall } = params({ input });
    expect(approvalRequest.args.text).toBe(`${"x".repeat(2000)}…`);
    expect(toolCall.rawInput.text).toHaveLength(5000);
  });

  it("about a lost call is no request of the policy's", () => {
    const { decision: _, diffs: __, ...lost } = asked;
    const { params: sent } = permissionRequest({ ...lost, question: "lost-call" }, place);
    expect(sent).not.toHaveProperty("policyDecision");
    expect(sent).toMatchObject({ toolCall: { toolCallId: "appr_1" } });
  });

  it("fits into a line, whatever the call is about, and says what it leaves out [ACP-15]", () => {
    const long = "x ".repeat(100_000);
    const context = { ...decision.context, command: long, simpleCommands: [] };
    const change = {
      action: long,
      always: long,
      input: { command: long },
      decision: { ...decision, reason: long, context },
      diffs: [{ path: "a", oldText: long, newText: "" }],
    };
    const { method, params: sent } = permissionRequest({ ...asked, ...change }, place);
    const line = requestLine("q", method, sent);
    expect(Buffer.byteLength(line)).toBeLessThan(48 * 1024);
    expect(acpProblems(JSON.parse(line))).toEqual([]);
    const { toolCall, policyDecision, declaredPaths } = JSON.parse(line).params;
    expect(toolCall.rawInput.command).toMatch(/characters are not shown/);
    expect(policyDecision).toMatchObject({ action: "ask", matched_rule: { id: "edit-src" } });
    expect(declaredPaths).toEqual(["src/main.rs"]);
  });
});
