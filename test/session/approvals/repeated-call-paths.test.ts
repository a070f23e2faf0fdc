import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { createToolCall } from "../../../src/domain/tools/tool-call.ts";
import type { SessionInput } from "../../../src/session/session-input.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import { logRules } from "../simulation/log-rules.ts";
import { examined } from "../simulation/moves.ts";
import { simulatedSession, type SimulatedSession } from "../simulation/simulated-session.ts";

const HOST_TOOL = {
  name: "free_read",
  description: "free_read",
  schema: { type: "object" },
  idempotent: true,
  timeoutMs: 60_000,
  traits: { kind: "read", sideEffect: "read_only", executor: { type: "host" } },
} as const;

const AGENT: AgentSpec = {
  name: "demo",
  provider: {
    name: "simulated",
    injectionPoints: ["turn-start"],
    effectFree: false,
    canStop: false,
  },
  tools: [HOST_TOOL],
  approvals: { deny: [], ask: [], allow: ["*"], default: "ask" },
  policy: createPolicy([["*", "allow"]]),
  caps: { steps: 20, seconds: 100_000, tokens: null, toolCalls: 12, parallelTools: 1 },
  onLost: "ask",
  settle: "wait",
  approvalMs: 600_000,
};

/** A session in which the host tool runs, by default with a path inside the workspace; further calls wait. */
function sessionWithRunningTool({
  callIds = ["c0"],
  inputText = `{"path":"a.txt"}`,
} = {}): SimulatedSession {
  const session = simulatedSession(AGENT, logRules(AGENT));
  const content = [{ type: "text", text: "Read it" }] as const;
  session.send(commanded({ type: "prompt", content }));
  const calls = callIds.flatMap((id, block) => {
    const call = createToolCall({ id, name: HOST_TOOL.name, inputText, runBy: "client" });
    const place = { message: 0, block };
    return [
      { event: { type: "tool.start", ...place, toolCallId: id, name: HOST_TOOL.name } },
      { event: { type: "tool.end", ...place, toolCall: call } },
    ] as const;
  });
  const reason = "tool_use";
  const end = {
    outcome: "action-required",
    reason,
    openToolCallIds: callIds,
    usage: null,
  } as const;
  session.send({
    type: "provider-events",
    invocationId:
      session.effects.flatMap((due) => (due.type === "invoke" ? [due.invocationId] : []))[0] ?? "",
    outputs: [
      { event: { type: "message.start", message: 0, role: "assistant" } },
      ...calls,
      { event: { type: "message.end", message: 0, reason } },
      { event: { type: "end", ...end } },
    ],
  });
  resolvePaths(session);
  return session;
}

function commanded(
  command: Extract<SessionInput, { type: "command-received" }>["command"],
): SessionInput {
  const rights = ["prompt", "approve", "control"] as const;
  return { type: "command-received", command, actor: { kind: "user", principal: "me" }, rights };
}

function resolvePaths(session: SimulatedSession): void {
  for (const due of session.effects) {
    if (due.type === "resolve-paths") session.send(examined(due, "inside"));
  }
}

function agentWith(tools: AgentSpec["tools"]): { digest: string; spec: AgentSpec } {
  return { digest: JSON.stringify(tools), spec: { ...AGENT, tools } };
}

/** The events about the tool call after a log position. */
function toolEvents({ log }: SimulatedSession, from: number): SessionEvent["type"][] {
  const types = log.slice(from).map(({ event }) => event.type);
  return types.filter((type) => /^(?:tool|tool_call|policy|approval)\./.test(type));
}

describe("The paths of a host tool call interrupted by a kill", () => {
  it("A repeated call is evaluated with the paths of the attempt it repeats [W-02]", () => {
    const session = sessionWithRunningTool();
    const killed = session.log.length;
    session.kill("log");
    session.send({ type: "recovery-started", epoch: 2, agent: agentWith([]) });
    session.kill("log");
    session.send({ type: "recovery-started", epoch: 3, agent: agentWith([HOST_TOOL]) });
    const onLost = "continue" as const;
    const changed = { digest: "other", spec: { ...AGENT, onLost } };
    session.send({ type: "agent-changed", agent: changed });
    expect(toolEvents(session, killed)).toEqual([
      "tool.waiting_for_host",
      "tool.waiting_for_host",
      "policy.decided",
      "tool.started",
    ]);
    expect(session.effects).toMatchObject([
      {
        type: "run-tool",
        attempt: 2,
        isRepeat: true,
        paths: [{ input: "a.txt", location: "inside" }],
      },
    ]);
  });

  it("A call run again by an approver has its paths resolved again [W-02]", () => {
    const session = sessionWithRunningTool();
    session.kill("log");
    session.send({ type: "recovery-started", epoch: 2, agent: agentWith([]) });
    // The host returned with another tool of the same name: the call is not repeated, and an approver is asked.
    const other = { ...HOST_TOOL, description: "Reads from the archive" };
    session.send({ type: "agent-changed", agent: agentWith([other]) });
    const [approval] = session.state.approvals.pending;
    const answered = session.log.length;
    const approvalId = approval?.approvalId ?? "";
    session.send(commanded({ type: "decide-approval", approvalId, decision: "run-again" }));
    expect(toolEvents(session, answered)).toEqual(["approval.resolved"]);
    expect(session.effects).toMatchObject([{ type: "resolve-paths", input: { path: "a.txt" } }]);
    resolvePaths(session);
    expect(toolEvents(session, answered)).toEqual([
      "approval.resolved",
      "tool_call.paths_resolved",
      "policy.decided",
      "tool.started",
    ]);
  });

  it("A withdrawn outcome request is made again, and its call is not restarted next to another", () => {
    const session = sessionWithRunningTool({ callIds: ["c0", "c1"], inputText: "{}" });
    session.kill("log");
    session.send({ type: "recovery-started", epoch: 2, agent: agentWith([]) });
    const other = { ...HOST_TOOL, description: "Reads from the archive" };
    session.send({ type: "agent-changed", agent: agentWith([other]) });
    const statuses = () => session.state.tools.runs.map(({ status }) => status);
    expect(statuses()).toEqual(["outcome-requested", "running"]);
    session.kill("log");
    session.send({ type: "recovery-started", epoch: 3, invalidReceiptSeq: 1 });
    expect(statuses()).toEqual(["outcome-requested", "running"]);
    expect(session.state.approvals.pending).toMatchObject([{ question: "outcome" }]);
  });
});
