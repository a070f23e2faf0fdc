import { describe, expect, it } from "vitest";
import { findAcpProblems } from "../../../../../test/support/acp/acp-schema.ts";
import type { AgentSpec } from "../../../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../../../domain/events/approval-events.ts";
import type { Rule, RuleSource } from "../../../../domain/policy/policy.ts";
import type { PolicyDecision } from "../../../../domain/policy/policy-decision.ts";
import { encodeRequestLine } from "../../../jsonrpc/rpc-line.ts";
import { readPermissionRequest } from "../../client/read-permission-request.ts";
import { encodePermissionRequest, type ApprovalContext } from "./encode-permission-request.ts";

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
        location: "inside",
        workspacePath: "src/main.rs",
        hostPath: "/home/me/work/src/main.rs",
      },
    ],
    capabilities: ["workspace.write_text"],
    repeats: 0,
  },
  approvers: 1,
};

const approval: ApprovalRequested = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  options: ["allow", "allow-always", "deny"],
  subjectId: "tool_1",
  action: "edit_file",
  input: { path: "src/../src/main.rs" },
  deadline: Date.UTC(2026, 3, 30, 12, 10),
  approvers: 1,
  decision,
  diffs: [{ path: "src/main.rs", oldText: "a", newText: "b" }],
};

const agent: AgentSpec = {
  name: "coder",
  provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
  tools: [],
  approvals: { deny: ["rm"], ask: ["edit_*"], allow: ["read_file"], default: "ask" },
  mutationScope: "apply_workspace",
  caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
  onLost: "ask",
  settle: "wait",
  approvalMs: 1000,
};

const place: ApprovalContext = {
  sessionId: "ses_1",
  at: Date.UTC(2026, 3, 30, 12),
  turnId: "turn_1",
  agent,
  workspace: "/home/me/work",
};

/** The params as a client parses them. */
function params(change: Partial<ApprovalRequested> = {}, where: Partial<ApprovalContext> = {}) {
  const { params: sent } = encodePermissionRequest(
    { ...approval, ...change },
    { ...place, ...where },
  );
  return JSON.parse(JSON.stringify(sent));
}

const OUTCOME = ["run-again", "deny", "done", "failed"] as const;

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

describe("Permission request", () => {
  it("The option to allow always names the scope of the grant [ACP-99]", () => {
    const named = (change: Partial<ApprovalRequested>): unknown =>
      params(change).options.find(({ kind }: { kind: string }) => kind === "allow_always").name;
    expect(named({ grantLabel: "edit_file of src/main.rs" })).toBe(
      "Always allow edit_file of src/main.rs in this session",
    );
    expect(named({})).toBe("Always allow edit_file in this session");
  });

  it("The request is valid ACP and has options of every kind [ACP-94] [ACP-87] [W-26]", () => {
    const { method, params: sent } = encodePermissionRequest(approval, place);
    expect(findAcpProblems({ jsonrpc: "2.0", id: 1, method, params: sent })).toEqual([]);
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

  it("The bridge fields are at the root and under toolCall._meta.harn [B-088] [ACP-95] [W-26]", () => {
    const sent = params();
    const names = ["approvalRequest", "policyDecision", "mutation", "declaredPaths"];
    for (const name of names) {
      expect(sent).toHaveProperty(name);
      expect(sent.toolCall["_meta"].harn[name]).toEqual(sent[name]);
    }
    expect(sent.sessionId).toBe("ses_1");
  });

  it("A request of a worker names the worker and its agent", () => {
    const worker = { workerId: "w_1", name: "thinker", agent: "reviewer", sessionId: "ses_2" };
    const sent = params({ worker: { ...worker, through: "w_1" } });
    expect(sent.toolCall["_meta"].harn.worker).toEqual({
      id: "w_1",
      name: "thinker",
      agent: "reviewer",
    });
    expect(params().toolCall["_meta"].harn).not.toHaveProperty("worker");
    expect(readPermissionRequest(sent)).toMatchObject({
      value: { context: { worker: { id: "w_1", name: "thinker", agent: "reviewer" } } },
    });
  });

  it("The request names the tool call, the tool and the arguments [B-089]", () => {
    expect(params().toolCall).toMatchObject({
      toolCallId: "tool_1",
      toolName: "edit_file",
      rawInput: { path: "src/../src/main.rs" },
    });
  });

  it("The mutation record has the session and its policy, and is null for a read-only agent [B-074] [B-075] [B-090]", () => {
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
        write_path_allowlist: ["**"],
      },
    });
    const { mutationScope: _, ...reader } = agent;
    expect(params({}, { agent: reader }).mutation).toBeNull();
  });

  it("The mutation record has all four policy lists, including tools of ask rules [B-075]", () => {
    const rule = (source: RuleSource, match: Rule["match"]): Rule => ({
      source,
      index: 0,
      id: null,
      action: "ask",
      match,
      reason: null,
      approvers: 1,
      approval: null,
    });
    const layer = {
      rules: [
        rule("require_approval", { tool: ["edit_*"] }),
        rule("rules", { tool: ["edit_*", "move"], path: ["src/**"] }),
        rule("rules", { command: ["rm *"] }),
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
    const readApprovalPolicy = (one: typeof layer | typeof open) =>
      params({}, { agent: { ...agent, policy: { layers: [one] } } }).mutation.approval_policy;
    expect(readApprovalPolicy(layer)).toEqual({
      auto_approve: [],
      auto_deny: [],
      require_approval: ["edit_*", "move", "*"],
      write_path_allowlist: [],
    });
    expect(readApprovalPolicy(open).write_path_allowlist).toEqual(["**"]);
  });

  it("Declared paths are the resolved paths, not the tool's arguments [B-091]", () => {
    expect(params().declaredPaths).toEqual(["src/main.rs"]);
  });

  it("The approval request has the tool call's id and all documented fields [B-092] [B-094] [B-095] [B-096] [B-097] [B-098] [B-099] [B-100] [B-101] [B-102]", () => {
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

  it("The deadline is RFC 3339 in UTC, and absent if RFC 3339 cannot express it [B-098]", () => {
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
    for (const deadline of [Date.UTC(2026, 3, 30, 12, 10), Date.UTC(2028, 1, 29), last]) {
      const { approvalRequest } = params({ deadline });
      expect(approvalRequest.deadline).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      expect(Date.parse(approvalRequest.deadline)).toBe(deadline);
    }
    for (const deadline of [last + 1, Number.MAX_SAFE_INTEGER]) {
      expect(params({ deadline }).approvalRequest).not.toHaveProperty("deadline");
    }
  });

  it("The policy receipt is complete in both places [B-103] [B-104] [B-105] [B-106] [B-107]", () => {
    const { policyDecision, approvalRequest } = params();
    expect(policyDecision).toEqual(receipt);
    expect(approvalRequest.undo_metadata.policy_decision).toEqual(policyDecision);
  });

  it.each([
    ["a bridge host", 5000, 16 * 1024 * 1024],
    ["a bridge host", 100_000, 16 * 1024 * 1024],
    ["a stock client", 5000, undefined],
  ])(
    "The request for %s contains all of %i characters of arguments [B-095]",
    (_, length, lineBytes) => {
      const input = { text: "x".repeat(length), ["__proto__"]: "kept" };
      const sent = params({ input }, lineBytes === undefined ? {} : { lineBytes });
      const own = JSON.parse(JSON.stringify(input));
      expect(sent.approvalRequest.args).toEqual(own);
      expect(sent.toolCall.rawInput).toEqual(own);
      expect(sent.toolCall["_meta"].harn.approvalRequest).toEqual(sent.approvalRequest);
      expect(sent).not.toHaveProperty("_meta");
    },
  );

  it("Copies of the arguments are shortened before the arguments themselves", () => {
    const copies = (length: number) => {
      const input = { text: "x".repeat(length) };
      const { approvalRequest, toolCall, _meta: meta } = params({ input, diffs: [] });
      const all = [approvalRequest, toolCall["_meta"].harn.approvalRequest];
      const isWhole = [all[0].args, toolCall.rawInput, all[1].args].map(
        ({ text }: { text: string }) => text === input.text,
      );
      return { isWhole, previews: meta?.harn.truncated.previews };
    };
    const [args, rawInput, metaArgs] = [
      "approvalRequest.args",
      "toolCall.rawInput",
      "toolCall._meta.harn.approvalRequest.args",
    ];
    expect(copies(12_000)).toEqual({ isWhole: [true, true, true], previews: undefined });
    expect(copies(17_000)).toEqual({ isWhole: [true, true, false], previews: [metaArgs] });
    expect(copies(30_000)).toEqual({
      isWhole: [true, false, false],
      previews: [rawInput, metaArgs],
    });
    expect(copies(100_000)).toEqual({
      isWhole: [false, false, false],
      previews: [args, rawInput, metaArgs],
    });
  });

  it("Every preview is marked, with its sizes and the method that returns the whole arguments", () => {
    const input = { path: "a", text: "x".repeat(20_000_000), list: Array(500).fill("item") };
    const sent = encodePermissionRequest(
      { ...approval, input },
      { ...place, lineBytes: 16 * 1024 * 1024 },
    );
    const line = encodeRequestLine("q", sent.method, sent.params);
    expect(line.length).toBeLessThan(200 * 1024);
    const { _meta: meta, approvalRequest, toolCall } = JSON.parse(line).params;
    expect(approvalRequest.args).toMatchObject({ path: "a" });
    expect(approvalRequest.args.text).toMatch(
      /^x+\n\[preview of appr_1: \d+ characters not shown\]\nx+$/,
    );
    expect(approvalRequest.args.list.at(-1)).toBe("[preview of appr_1: 400 items not shown]");
    const bytes = JSON.stringify(input).length;
    const truncated = {
      previews: [
        "approvalRequest.args",
        "toolCall.rawInput",
        "toolCall._meta.harn.approvalRequest.args",
      ],
      bytes,
      shownBytes: JSON.stringify(approvalRequest.args).length,
      fetch: {
        method: "session/approval_args",
        params: { sessionId: "ses_1", approvalId: "appr_1", offset: 0 },
      },
    };
    expect(meta.harn).toEqual({ truncated });
    expect(approvalRequest["_meta"].harn).toEqual({ truncated });
    expect(toolCall["_meta"].harn.truncated).toEqual(truncated);
    expect(toolCall["_meta"].harn.approvalRequest).toEqual(approvalRequest);
  });

  it("Credentials are masked in every copy of the arguments [B-095]", () => {
    const key = "sk-live-0123456789abcdef0123";
    const command = `curl -H "Authorization: Bearer ${key}" https://example.com`;
    const context = { ...decision.context, command };
    const diffs = [{ path: "a", oldText: "", newText: `key: ${key}` }];
    const sent = params({
      input: { command, env: { API_TOKEN: "short" }, sortKey: "name" },
      decision: { ...decision, context },
      diffs,
    });
    expect(JSON.stringify(sent)).not.toContain(key);
    expect(JSON.stringify(sent)).not.toContain("short");
    const masked = 'curl -H "Authorization: Bearer [masked credential 1]" https://example.com';
    const args = {
      command: masked,
      env: { API_TOKEN: "[masked credential 2]" },
      sortKey: "name",
    };
    expect(sent.approvalRequest.args).toEqual(args);
    expect(sent.toolCall.rawInput).toEqual(args);
    expect(sent.policyDecision.context.command).toBe(masked);
    expect(sent.toolCall.content[0].newText).toBe("key: [masked credential 1]");
  });

  it("A request about an interrupted tool is complete and has its attempt number [B-088] [B-092] [B-104]", () => {
    const action = "edit_file may already have run; allowing runs it again";
    const outcome = {
      ...approval,
      question: "outcome",
      options: OUTCOME,
      action,
      attempt: 2,
    } as const;
    const sent = params(outcome);
    const { args, ...named } = params().approvalRequest;
    expect(sent.approvalRequest).toEqual({ ...named, args, action, attempt: 2 });
    expect(sent.toolCall).toMatchObject({
      toolCallId: "tool_1",
      toolName: "edit_file",
      title: action,
      rawInput: args,
      _meta: { harn: { attempt: 2 } },
    });
    expect(sent.options).toEqual([
      { optionId: "run-again", name: "Run it again", kind: "allow_once" },
      {
        optionId: "deny",
        name: "Do not run it again; the outcome stays unknown",
        kind: "reject_once",
      },
      { optionId: "done", name: "It was done", kind: "reject_once" },
      { optionId: "failed", name: "It failed", kind: "reject_once" },
    ]);
  });

  it("A request about a lost invocation is complete and has the approval id [B-088] [B-089]", () => {
    const { decision: _, diffs: __, ...lost } = approval;
    const question = {
      question: "lost-invocation",
      options: ["continue", "reseed", "stop"],
    } as const;
    const { params: sent } = encodePermissionRequest({ ...lost, ...question, input: null }, place);
    const plain = JSON.parse(JSON.stringify(sent));
    expect(plain).toMatchObject({
      toolCall: { toolCallId: "appr_1", toolName: "edit_file", rawInput: {} },
      approvalRequest: { id: "appr_1", args: {}, evidence_refs: [], capabilities_requested: [] },
      policyDecision: null,
      declaredPaths: [],
    });
    expect(plain.mutation).not.toBeNull();
  });

  it("A request fits into a line whatever its tool call, and notes omitted parts [ACP-15]", () => {
    const long = "x ".repeat(100_000);
    const context = { ...decision.context, command: long, simpleCommands: [] };
    const change = {
      action: long,
      grantLabel: long,
      input: { command: long },
      decision: { ...decision, reason: long, context },
      diffs: [{ path: "a", oldText: long, newText: "" }],
    };
    const { method, params: sent } = encodePermissionRequest({ ...approval, ...change }, place);
    const line = encodeRequestLine("q", method, sent);
    expect(Buffer.byteLength(line)).toBeLessThan(48 * 1024);
    expect(findAcpProblems(JSON.parse(line))).toEqual([]);
    const { toolCall, policyDecision, declaredPaths } = JSON.parse(line).params;
    expect(toolCall.rawInput.command).toMatch(/characters not shown/);
    expect(policyDecision).toMatchObject({ action: "ask", matched_rule: { id: "edit-src" } });
    expect(declaredPaths).toEqual(["src/main.rs"]);
  });
});
