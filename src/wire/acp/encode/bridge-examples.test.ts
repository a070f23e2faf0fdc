import { describe, expect, it } from "vitest";
import { formatSortedJson } from "../../../../test/support/sorted-json.ts";
import type { AgentSpec } from "../../../domain/agent-spec.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { PolicyDecision } from "../../../domain/policy/policy-decision.ts";
import {
  decodeSkillMatch,
  encodeSkillList,
  encodeSkillMatches,
  encodeSkill,
} from "../host/skill-messages.ts";
import { decodeAttach, encodeLiveClients } from "../decode/live-client-messages.ts";
import { decodePermissionResponse } from "../decode/decode-permission-response.ts";
import { encodePermissionRequest } from "./permissions/encode-permission-request.ts";

/**
 * The examples from the documentation of the Harn bridge protocol. The examples for tools, shells, texts and updates
 * are tested next to their codecs.
 */

const matched = { source: "rules", action: "ask", id: "edit-src", index: 0 } as const;
const labels = ["approval_required", "path_rule"];

const decision: PolicyDecision = {
  action: "ask",
  reason: "workspace edit",
  rule: matched,
  labels,
  context: {
    tool: "edit_file",
    kind: "edit",
    sideEffect: "workspace_write",
    paths: [
      {
        argument: "path",
        input: "src/main.rs",
        location: "inside",
        workspacePath: "src/main.rs",
        hostPath: "/w/src/main.rs",
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
  options: ["allow", "deny"],
  subjectId: "call_123",
  action: "edit_file",
  input: { path: "src/main.rs" },
  deadline: Date.UTC(2026, 3, 30, 13),
  approvers: 1,
  decision,
};

const agent: AgentSpec = {
  name: "worker_3",
  provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
  tools: [],
  approvals: { deny: [], ask: ["edit*"], allow: [], default: "deny" },
  mutationScope: "apply_workspace",
  caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
  onLost: "ask",
  settle: "wait",
  approvalMs: 1000,
};

const policyDecision = {
  type: "harn.permission_policy_decision.v1",
  action: "ask",
  reason: "workspace edit",
  matched_rule: matched,
  risk_labels: labels,
};

describe("Examples of the bridge documentation", () => {
  it("The permission request contains every field of the documented example [B-088] [B-103] [ACP-95]", () => {
    const { method, params } = encodePermissionRequest(approval, {
      sessionId: "session_123",
      at: Date.UTC(2026, 3, 30, 12),
      turnId: "run_123",
      agent,
      workspace: "/w",
    });
    expect(method).toBe("session/request_permission");
    expect(JSON.parse(JSON.stringify(params))).toMatchObject({
      sessionId: "session_123",
      approvalRequest: {
        id: "call_123",
        action: "edit_file",
        args: { path: "src/main.rs" },
        principal: "worker_3",
        requested_at: "2026-04-30T12:00:00.000Z",
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
          policy_decision: policyDecision,
        },
        capabilities_requested: ["workspace.write_text"],
      },
      policyDecision: {
        ...policyDecision,
        context: {
          tool_name: "edit_file",
          tool_kind: "edit",
          side_effect: "workspace_write",
          paths: [{ workspace_path: "src/main.rs" }],
        },
      },
      toolCall: {
        toolCallId: "call_123",
        toolName: "edit_file",
        rawInput: { path: "src/main.rs" },
      },
      mutation: {
        session_id: "session_123",
        run_id: "run_123",
        worker_id: null,
        mutation_scope: "apply_workspace",
        approval_policy: { require_approval: ["edit*"] },
      },
      declaredPaths: ["src/main.rs"],
    });
  });

  it.each([
    [{ outcome: { outcome: "selected" } }, { decision: "allow" }],
    [{ granted: true }, { decision: "allow" }],
    [
      { granted: true, args: { path: "b" } },
      { decision: "allow", input: { path: "b" } },
    ],
    [
      { granted: false, reason: "not here" },
      { decision: "deny", reason: "not here" },
    ],
  ])(
    "The documented permission response %j is decoded [B-113] [B-114] [B-115] [B-116]",
    (result, meant) => {
      expect(decodePermissionResponse(approval, { ok: true, result })).toMatchObject(meant);
    },
  );

  it("The documented attach request is decoded and its result is byte-identical [B-197] [B-206]", () => {
    const harn = { surface: "portal" };
    const read = decodeAttach({
      sessionId: "session_123",
      clientId: "portal",
      mode: "observer",
      takeover: false,
      _meta: { harn },
    });
    const place = { sessionId: "session_123", clientId: "portal" };
    const value = { type: "attach", ...place, mode: "observer", takeOver: false, metadata: harn };
    expect(read).toEqual({ ok: true, value });
    const at = 1_780_000_000_000;
    const portal = {
      clientId: "portal",
      role: "observer",
      name: "portal",
      attachedAt: at,
      lastSeenAt: at,
      mayPrompt: false,
      mayApprove: false,
      metadata: harn,
    } as const;
    const after = { previousController: null, controller: "tui", clients: [] };
    expect(formatSortedJson(encodeLiveClients({ client: portal, ...after }))).toBe(
      formatSortedJson({
        client: {
          client_id: "portal",
          mode: "observer",
          attached_at: "1780000000",
          last_seen_at: "1780000000",
          prompt_injection: false,
          permission_routing: false,
          metadata: { surface: "portal" },
        },
        previous_controller_id: null,
        active_controller_id: "tui",
        clients: [],
      }),
    );
  });

  it("The documented skill list and skill are byte-identical [B-256] [B-259]", () => {
    const entries = [
      { id: "deploy", name: "deploy", description: "Ship it", source: "host" },
      { id: "acme/ops/review", name: "review", description: "Code review", source: "host" },
    ];
    const skills = entries.map(({ id, name, description }) => ({ id, name, description }));
    expect(formatSortedJson(encodeSkillList(skills))).toBe(formatSortedJson(entries));
    const body = "# Deploy runbook\n...";
    const own = {
      whenToUse: "...",
      allowedTools: ["bash", "git"],
      paths: ["infra/**"],
      model: "claude-opus-4-7",
    };
    const { whenToUse: when_to_use, allowedTools: allowed_tools, ...others } = own;
    const named = { name: "deploy", description: "Ship it", body };
    expect(formatSortedJson(encodeSkill({ ...named, ...own }))).toBe(
      formatSortedJson({ ...named, manifest: { when_to_use, allowed_tools, ...others } }),
    );
  });

  it("The documented skill match request is decoded and its result is byte-identical [B-268]", () => {
    const ship = { name: "ship", description: "Ship a production release" };
    const review = { name: "review", description: "Review existing code for correctness" };
    const prompt = "Ship the new release to production";
    const read = decodeSkillMatch({
      strategy: "host",
      prompt,
      working_files: ["infra/terraform/cluster.tf"],
      candidates: [
        { ...ship, when_to_use: "User says ship/release/deploy", paths: ["infra/**"] },
        { ...review, when_to_use: "User asks to review/audit", paths: [] },
      ],
    });
    expect(read).toEqual({
      ok: true,
      value: {
        strategy: "host",
        prompt,
        workingFiles: ["infra/terraform/cluster.tf"],
        candidates: [
          { ...ship, whenToUse: "User says ship/release/deploy", paths: ["infra/**"] },
          { ...review, whenToUse: "User asks to review/audit", paths: [] },
        ],
      },
    });
    const match = { name: "ship", score: 0.92, reason: "matched by embedding similarity" };
    expect(formatSortedJson(encodeSkillMatches([match]))).toBe(
      formatSortedJson({ matches: [match] }),
    );
  });
});
