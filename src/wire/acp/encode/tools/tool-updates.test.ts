import { describe, expect, it } from "vitest";
import { HOST_PROFILE } from "../../../../../test/support/acp/encode-acp-updates.ts";
import { formatSortedJson } from "../../../../../test/support/sorted-json.ts";
import type { AgentSpec, ToolSpec } from "../../../../domain/agent-spec.ts";
import type { SessionEvent } from "../../../../domain/events/session-event.ts";
import type { Envelope } from "../../../../domain/events/envelope.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../../domain/tools/tool-call.ts";
import type { Executor } from "../../../../domain/tools/tool-traits.ts";
import type { SessionMode } from "../../../../domain/session-mode.ts";
import { readPolicy } from "../../../../policy/document/read-policy.ts";
import { encodePermissionRequest } from "../permissions/encode-permission-request.ts";
import type { AcpSessionUpdate } from "../acp-session-update.ts";
import { STOCK_CLIENT } from "../../decode/client-profile.ts";
import { createUpdateEncoder } from "../update-encoder.ts";

function tool(name: string, executor?: Executor): ToolSpec {
  const facts = { name, description: name, schema: {}, idempotent: false, timeoutMs: 1 };
  const traits = { kind: "edit", sideEffect: "workspace_write" } as const;
  return executor === undefined ? facts : { ...facts, traits: { ...traits, executor } };
}

const TOOLS = [
  tool("app"),
  tool("edit_file", { type: "builtin" }),
  tool("open_tab", { type: "host" }),
  tool("linear__search", { type: "mcp", server: "linear" }),
];

function agentWith(change: Partial<AgentSpec> = {}): AgentSpec {
  return {
    name: "coder",
    provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
    tools: TOOLS,
    approvals: { deny: [], ask: [], allow: ["*"], default: "ask" },
    caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
    onLost: "ask",
    settle: "wait",
    approvalMs: 1000,
    ...change,
  };
}

/** The updates of a tool call as a client receives them. */
function encodeToolUpdates(
  name: string,
  agent: AgentSpec,
  ending: "succeeded" | "denied" | "server",
  { sessionId = "s", profile = STOCK_CLIENT } = {},
) {
  const call = createToolCall({ id: "c", name, inputText: "{}", runBy: "client" });
  const result = ending === "denied" ? createToolError("c", "no") : createToolSuccess("c", "ok");
  const events: SessionEvent[] = [
    { type: "agent.configured", digest: "d", spec: agent },
    { type: "turn.started", turnId: "turn_1", promptId: "p" },
    { type: "tool_call.opened", toolCallId: "t", messageId: "m", block: 0, name },
    { type: "tool_call.received", toolCallId: "t", messageId: "m", block: 0, toolCall: call },
    { type: "tool.started", toolCallId: "t", attempt: 1, digest: "d" },
    { type: "tool.progress", toolCallId: "t", text: "half" },
    { type: "tool.finished", toolCallId: "t", ending, result },
  ];
  const turnEvents = events.filter(({ type }) => ending === "succeeded" || !RUNNING.has(type));
  const encoder = createUpdateEncoder({
    sessionId,
    clientId: "me",
    getProfile: () => profile,
    upTo: 0,
    history: "shown",
  });
  const state = encoder.initial();
  const updates: AcpSessionUpdate[] = [];
  turnEvents.forEach((event, at) => {
    const envelope: Envelope = { sessionId, seq: at + 1, at, visibility: "public", event };
    encoder.step(state, envelope, (output) => {
      if (output.type === "update") updates.push(output.update);
    });
  });
  return updates.flatMap((update) =>
    update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update"
      ? [update]
      : [],
  );
}

const RUNNING: ReadonlySet<string> = new Set(["tool.started", "tool.progress"]);

function harn(update: object | undefined): { executor?: unknown; audit?: unknown } {
  return Object(update)["_meta"]?.harn ?? {};
}

describe("Executor of a tool call", () => {
  it.each<readonly [name: string, executor: unknown, id: string]>([
    ["app", "harn_builtin", "[B-082]"],
    ["edit_file", "harn_builtin", "[B-082]"],
    ["open_tab", "host_bridge", "[B-083]"],
    ["linear__search", { kind: "mcp_server", serverName: "linear" }, "[B-084] [B-085]"],
  ])("The executor of %s is %j %s [ACP-84]", (name, executor) => {
    expect(harn(encodeToolUpdates(name, agentWith(), "succeeded").at(-1)).executor).toEqual(
      executor,
    );
  });

  it("The executor of a server tool call is the provider [B-086]", () => {
    expect(harn(encodeToolUpdates("edit_file", agentWith(), "server").at(-1)).executor).toBe(
      "provider_native",
    );
    expect(harn(encodeToolUpdates("web", agentWith(), "server").at(-1)).executor).toBe(
      "provider_native",
    );
  });

  it("The executor is absent before the tool ran and after a denial [B-081] [B-087]", () => {
    const [first, second, started] = encodeToolUpdates("edit_file", agentWith(), "succeeded");
    expect(started).toMatchObject({ status: "in_progress" });
    for (const update of [first, second, started]) {
      expect(harn(update)).not.toHaveProperty("executor");
    }
    expect(harn(encodeToolUpdates("edit_file", agentWith(), "denied").at(-1))).not.toHaveProperty(
      "executor",
    );
  });
});

const ASKED = {
  action: "ask",
  reason: "",
  rule: null,
  labels: [],
  context: {
    tool: "edit_file",
    kind: "edit",
    sideEffect: "workspace_write",
    paths: [],
    capabilities: [],
    repeats: 0,
  },
  approvers: 1,
} as const;

describe("Audit record of a tool call", () => {
  it("Every update has the same audit record as the permission request [B-072] [B-073] [B-076]", () => {
    const agent = agentWith({ mutationScope: "apply_workspace" });
    const updates = encodeToolUpdates("edit_file", agent, "succeeded", { profile: HOST_PROFILE });
    expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toContain("tool_call");
    const requestFields = {
      subjectId: "t",
      action: "edit_file",
      input: {},
      deadline: 0,
      decision: ASKED,
    };
    const { params } = encodePermissionRequest(
      {
        type: "approval.requested",
        approvalId: "a",
        question: "run",
        options: [],
        ...requestFields,
      },
      { sessionId: "s", at: 0, turnId: "turn_1", agent, workspace: undefined },
    );
    for (const update of updates) expect(harn(update).audit).toEqual(Object(params).mutation);
  });

  it("The audit record groups the tool calls of a session [B-077]", () => {
    const agent = agentWith({ mutationScope: "apply_workspace" });
    const sessions = ["s1", "s2"].map((id) =>
      encodeToolUpdates("edit_file", agent, "succeeded", {
        sessionId: id,
        profile: HOST_PROFILE,
      }).map((update) => harn(update).audit),
    );
    const ids = sessions.map((audits) => [...new Set(audits.map((one) => Object(one).session_id))]);
    expect(ids).toEqual([["s1"], ["s2"]]);
  });

  it("The mutation scope read_only is part of the audit record [B-078]", () => {
    const agent = agentWith({ mutationScope: "read_only" });
    const [update] = encodeToolUpdates("edit_file", agent, "succeeded", { profile: HOST_PROFILE });
    expect(harn(update).audit).toMatchObject({ mutation_scope: "read_only" });
  });

  it("In the session mode read-only the audit record and the approval request have the scope read_only [B-078]", () => {
    const scopes = (...modes: SessionMode[]): unknown => {
      const events: SessionEvent[] = [
        {
          type: "agent.configured",
          digest: "d",
          spec: agentWith({ mutationScope: "apply_workspace" }),
        },
        ...modes.map((mode): SessionEvent => ({ type: "session.mode_changed", mode })),
        { type: "turn.started", turnId: "turn_1", promptId: "p" },
        { type: "tool_call.opened", toolCallId: "t", messageId: "m", block: 0, name: "edit_file" },
        {
          type: "approval.requested",
          approvalId: "a",
          question: "run",
          options: ["allow", "deny"],
          subjectId: "t",
          action: "edit_file",
          input: {},
          deadline: 0,
          decision: ASKED,
        },
      ];
      const encoder = createUpdateEncoder({
        sessionId: "s",
        clientId: "me",
        upTo: 0,
        history: "shown",
        getProfile: () => HOST_PROFILE,
      });
      const state = encoder.initial();
      const audits: unknown[] = [];
      let params: unknown;
      events.forEach((event, at) => {
        const envelope: Envelope = { sessionId: "s", seq: at + 1, at, visibility: "public", event };
        encoder.step(state, envelope, (output) => {
          if (output.type === "update") audits.push(harn(output.update).audit);
          if (output.type === "ask") params = output.request?.params;
        });
      });
      const { mutation, approvalRequest } = Object(params);
      const records = [...audits.filter((audit) => audit !== undefined), mutation];
      return [...records, approvalRequest.undo_metadata].map((one) => Object(one).mutation_scope);
    };
    const everywhere = (scope: string) => [scope, scope, scope];
    expect(scopes()).toEqual(everywhere("apply_workspace"));
    expect(scopes("ask")).toEqual(everywhere("apply_workspace"));
    expect(scopes("read-only")).toEqual(everywhere("read_only"));
    expect(scopes("read-only", "default")).toEqual(everywhere("apply_workspace"));
  });

  it("Stock clients receive no audit record", () => {
    const agent = agentWith({ mutationScope: "apply_workspace" });
    for (const update of encodeToolUpdates("edit_file", agent, "succeeded"))
      expect(harn(update)).not.toHaveProperty("audit");
  });

  it("The audit record is absent without a mutation scope [B-079]", () => {
    for (const update of encodeToolUpdates("edit_file", agentWith(), "succeeded", {
      profile: HOST_PROFILE,
    })) {
      expect(harn(update)).not.toHaveProperty("audit");
    }
  });

  it("The audit record matches the documented example except for worker fields [B-031] [B-074] [B-075] [ACP-85]", () => {
    const agent = agentWith({
      mutationScope: "apply_workspace",
      policy: readPolicy({
        require_approval: ["edit_*"],
        write_path_allowlist: ["src/**"],
      }),
    });
    const [update] = encodeToolUpdates("edit_file", agent, "succeeded", {
      sessionId: "session_42",
      profile: HOST_PROFILE,
    });
    expect(formatSortedJson(harn(update).audit)).toBe(
      formatSortedJson({
        session_id: "session_42",
        parent_session_id: null,
        run_id: "turn_1",
        worker_id: null,
        execution_kind: "session",
        mutation_scope: "apply_workspace",
        approval_policy: {
          auto_approve: [],
          auto_deny: [],
          require_approval: ["edit_*"],
          write_path_allowlist: ["src/**"],
        },
      }),
    );
  });
});
