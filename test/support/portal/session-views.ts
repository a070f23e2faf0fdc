import type {
  ApprovalView,
  NoticeItem,
  SessionView,
  ThreadItem,
  ToolItem,
  TurnEnd,
  TurnView,
  UserItem,
} from "../../../src/portal/state/session-view.ts";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import { createToolCall } from "../../../src/domain/tools/tool-call.ts";
import { toJsonText, type JsonObject } from "../../../src/data/json.ts";

/** The time of the event 0. Each later event is a second later. */
export const START = Date.UTC(2026, 10, 18, 12);

function timeAt(seq: number): number {
  return START + seq * 1000;
}

export function createView(turns: readonly TurnView[]): SessionView {
  return {
    sessionId: "ses_1",
    seq: 100,
    updatedAt: timeAt(100),
    title: null,
    agent: "demo",
    agentSpec: null,
    owner: null,
    lineage: null,
    workingDirectory: null,
    folders: [],
    mode: "default",
    turns,
    queue: [],
    openApprovals: [],
    clients: [],
    controller: null,
    plan: [],
    planDetails: null,
    artifactCount: 0,
    workerCount: 0,
    grants: [],
    usage: null,
  };
}

/** A finished turn from its first item to ten seconds after its start. */
export function createTurn(
  turnId: string,
  items: readonly ThreadItem[],
  overrides: Partial<TurnView> = {},
): TurnView {
  const startedAt = items[0]?.at ?? START;
  return {
    turnId,
    promptId: `prompt ${turnId}`,
    principal: "ada",
    startedAt,
    end: createEnd({ at: startedAt + 10_000 }),
    stage: "done",
    items,
    usage: null,
    ...overrides,
  };
}

export function createEnd(overrides: Partial<TurnEnd> = {}): TurnEnd {
  return { at: START, outcome: "completed", reason: null, steps: 1, usage: null, ...overrides };
}

export function createUser(seq: number, text: string): UserItem {
  const content = [{ type: "text", text }] as const;
  const base = { key: `user ${seq}`, at: timeAt(seq), seq, forkSeq: seq };
  return { kind: "user", ...base, content, principal: "ada" };
}

export function createNotice(seq: number): NoticeItem {
  const base = { key: `notice ${seq}`, at: timeAt(seq), seq };
  return { kind: "notice", ...base, level: "info", text: "A notice" };
}

/** A tool call that succeeded in two seconds. */
export function createTool(
  seq: number,
  input: JsonObject,
  overrides: Partial<ToolItem> = {},
): ToolItem {
  const inputText = toJsonText(input);
  return {
    kind: "tool",
    key: `tool ${seq}`,
    at: timeAt(seq),
    seq,
    toolCallId: `call ${seq}`,
    messageId: "message",
    name: "read_file",
    stage: "ended",
    inputText,
    call: createToolCall({ id: `call ${seq}`, name: "read_file", inputText, runBy: "client" }),
    approvals: [],
    attempt: 1,
    startedAt: timeAt(seq),
    progress: null,
    ending: "succeeded",
    result: null,
    durationMs: 2000,
    diffs: [],
    ...overrides,
  };
}

/** A request to run a tool, resolved by a person unless `resolution` says otherwise. */
export function createApproval(
  resolution: Partial<NonNullable<ApprovalView["resolution"]>>,
): ApprovalView {
  return {
    approvalId: "approval",
    at: START,
    request: {
      type: "approval.requested",
      approvalId: "approval",
      question: "run",
      options: ["allow", "deny"],
      subjectId: "call",
      action: "read_file",
      input: {},
      deadline: START + 60_000,
      grantLabel: "read_file of notes.md",
    },
    votes: [],
    resolution: {
      type: "approval.resolved",
      approvalId: "approval",
      decision: "allow",
      resolvedBy: "person",
      at: START,
      decidedBy: "ada",
      ...resolution,
    },
  };
}

/** The view of a session with two agents for workers, at most two levels deep. `depth`: the level of the session. */
export function createLeadView(depth = 0): SessionView {
  const agentSpec: AgentSpec = {
    name: "lead",
    provider: { name: "local", injectionPoints: [], effectFree: true, canStop: true },
    tools: [],
    approvals: { deny: [], ask: [], allow: [], default: "ask" },
    caps: { steps: 20, seconds: 600, tokens: null, toolCalls: 50, parallelTools: 4 },
    onLost: "ask",
    settle: "stop",
    approvalMs: 600_000,
    workers: { agents: [{ name: "writer" }, { name: "reviewer" }], maxDepth: 2, maxOpen: 8 },
  };
  const lineage = { parentSessionId: "ses_0", workerId: "worker_1", rootSessionId: "ses_0", depth };
  return { ...createView([]), agentSpec, lineage: depth === 0 ? null : lineage };
}
