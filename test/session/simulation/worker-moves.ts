import * as fc from "fast-check";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { AgentBudgets, BudgetAmounts } from "../../../src/domain/budget.ts";
import type { ApprovalRequested } from "../../../src/domain/events/approval-events.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import { SESSION_MODES, type SessionMode } from "../../../src/domain/session-mode.ts";
import { createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import type { PromptPart } from "../../../src/domain/prompt.ts";
import type { SessionInput } from "../../../src/session/session-input.ts";
import { examined } from "./moves.ts";
import { turnOfItems } from "./provider-outputs.ts";
import type { SimulatedSession } from "./simulated-session.ts";

/** A tool call of an agent which delegates. `pick`: the worker, counted from the newest. */
export interface WorkerCall {
  readonly name: "delegate" | "worker_trigger" | "close_agent" | "look";
  readonly pick: number;
  readonly isBackground: boolean;
  readonly isRetriggerable: boolean;
}

/** A possible next input of a session with workers. */
export type WorkerMove =
  | { readonly do: "go-on"; readonly calls: readonly WorkerCall[]; readonly pick: number }
  | { readonly do: "command"; readonly call: WorkerCall }
  | { readonly do: "cancel" | "end-work" | "prompt" | "wake" }
  | { readonly do: "set-mode"; readonly mode: SessionMode }
  | { readonly do: "remind" }
  | {
      readonly do: "report";
      readonly pick: number;
      readonly outcome: "completed" | "failed" | "cancelled" | "limited";
      readonly isHandoff: boolean;
      /** A report about the previous cycle. */
      readonly isStale: boolean;
    }
  | { readonly do: "request" | "resolve" | "closed"; readonly pick: number }
  | { readonly do: "kill"; readonly from: "log" | "snapshot" };

const pick = fc.constantFrom(0, 0, 0, 1, 2, 9);

const anyCall: fc.Arbitrary<WorkerCall> = fc.record({
  name: fc.constantFrom("delegate", "delegate", "worker_trigger", "close_agent", "look"),
  pick,
  isBackground: fc.boolean(),
  isRetriggerable: fc.boolean(),
});

export const anyWorkerMove: fc.Arbitrary<WorkerMove> = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      do: fc.constant("go-on"),
      calls: fc.array(anyCall, { maxLength: 3 }),
      pick,
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant("command"), call: anyCall }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom("cancel", "prompt", "prompt", "wake", "end-work") }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("set-mode"), mode: fc.constantFrom(...SESSION_MODES) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("remind") }) },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant("report"),
      pick,
      outcome: fc.constantFrom("completed", "completed", "failed", "cancelled", "limited"),
      isHandoff: fc.constantFrom(false, false, false, true),
      isStale: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constantFrom("request", "resolve", "closed"), pick }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("kill"), from: fc.constantFrom("log", "snapshot") }),
  },
);

const TOOLS = ["delegate", "worker_trigger", "close_agent", "look"].map((name) => ({
  name,
  description: name,
  schema: { type: "object" },
  idempotent: true,
  timeoutMs: 60_000,
}));

const BUDGETS: readonly AgentBudgets[] = [
  { session: { invocations: 12, toolCalls: 9 } },
  { turn: { toolCalls: 6 }, session: { toolCalls: 20 } },
];

export const anyBoss: fc.Arbitrary<AgentSpec> = fc
  .record({
    budgets: fc.constantFrom<AgentBudgets | undefined>(undefined, ...BUDGETS),
    maxOpen: fc.integer({ min: 1, max: 3 }),
    onLost: fc.constantFrom("continue", "reseed", "resend"),
  })
  .map(({ budgets, maxOpen, onLost }) => ({
    name: "boss",
    provider: {
      name: "simulated",
      injectionPoints: ["turn-start", "tool-results", "turn-end"],
      effectFree: true,
      canStop: true,
    },
    tools: TOOLS,
    approvals: { deny: [], ask: [], allow: ["*"], default: "ask" },
    caps: { steps: 30, seconds: 100_000, tokens: null, toolCalls: 30, parallelTools: 2 },
    onLost,
    settle: "stop",
    approvalMs: 600_000,
    workers: { agents: [{ name: "helper" }], maxDepth: 3, maxOpen },
    ...(budgets !== undefined && { budgets }),
  }));

/** The ids of all workers so far, the newest first. */
function findWorkerId({ log }: SimulatedSession, at: number): string {
  const ids = log.flatMap(({ event }) => (event.type === "worker.spawned" ? [event.workerId] : []));
  return [...new Set(ids)].toReversed()[at] ?? "worker_none";
}

function createCommand(session: SimulatedSession, call: WorkerCall): SessionCommand<PromptPart> {
  const workerId = findWorkerId(session, call.pick);
  switch (call.name) {
    case "worker_trigger":
      return { type: "trigger-worker", workerId, payload: "next" };
    case "close_agent":
      return { type: "close-worker", workerId };
    default: {
      const { isRetriggerable } = call;
      return { type: "delegate", task: "Work", isRetriggerable };
    }
  }
}

function toInputText(session: SimulatedSession, call: WorkerCall): string {
  const workerId = findWorkerId(session, call.pick);
  const { isBackground: background, isRetriggerable: retriggerable } = call;
  const inputs = {
    delegate: { task: "Work", background, retriggerable },
    worker_trigger: { worker_id: workerId, payload: "next" },
    close_agent: { worker_id: workerId },
    look: {},
  };
  return JSON.stringify(inputs[call.name]);
}

const REQUEST: ApprovalRequested = {
  type: "approval.requested",
  approvalId: "appr_1",
  question: "run",
  options: ["allow", "deny"],
  subjectId: "tool_1",
  action: "look",
  input: {},
  deadline: 9_000_000_000_000,
};

/** Creates the input of a move for the present state of the session. */
export function toWorkerInput(session: SimulatedSession, move: WorkerMove): SessionInput {
  switch (move.do) {
    case "go-on":
      return performNextEffect(session, move);
    case "command":
      return toCommandInput(createCommand(session, move.call));
    case "cancel":
      return toCommandInput({ type: "cancel" });
    case "end-work":
      return toCommandInput({ type: "end-work" });
    case "prompt":
      return createPrompt(session);
    case "wake":
      return { type: "time-passed" };
    case "set-mode":
      return toCommandInput({ type: "set-mode", mode: move.mode });
    case "remind":
      return toCommandInput({
        type: "remind",
        reminder: {
          body: `No. ${session.log.length}`,
          tags: [],
          mode: "finish_step",
          roleHint: "system",
          authority: "contract",
          source: "bridge",
          propagate: "all",
        },
      });
    case "report": {
      const workerId = findWorkerId(session, move.pick);
      const { cycle = 1 } = findOpenWorker(session, workerId) ?? {};
      return finishCycle(session, workerId, { ...move, cycle: move.isStale ? cycle - 1 : cycle });
    }
    case "request":
    case "resolve": {
      const workerId = findWorkerId(session, move.pick);
      const approvalId = `appr_${workerId}`;
      if (move.do === "request") {
        const request = { ...REQUEST, approvalId };
        return { type: "worker-approval-requested", workerId, request };
      }
      const resolution = { decision: "deny", resolvedBy: "person" } as const;
      return {
        type: "worker-approval-resolved",
        workerId,
        resolution: { type: "approval.resolved", approvalId, ...resolution },
      };
    }
    case "closed": {
      const workerId = findWorkerId(session, move.pick);
      return { type: "worker-closed", workerId, usage: measureUse(session, workerId) };
    }
    case "kill":
      session.kill(move.from);
      return { type: "recovery-started", epoch: session.log.length };
    default:
      return move satisfies never;
  }
}

function toCommandInput(command: SessionCommand<PromptPart>): SessionInput {
  const actor = { kind: "user", principal: "me" } as const;
  return { type: "command-received", command, actor, rights: ["prompt", "approve", "control"] };
}

function createPrompt({ log }: SimulatedSession): SessionInput {
  const content = [{ type: "text", text: `No. ${log.length}` }] as const;
  return toCommandInput({ type: "prompt", content });
}

function findOpenWorker({ state }: SimulatedSession, workerId: string) {
  return state.workers.open.find((worker) => worker.workerId === workerId);
}

interface CycleReport {
  readonly outcome: "completed" | "failed" | "cancelled" | "limited";
  readonly cycle: number;
  readonly isHandoff: boolean;
}

function finishCycle(
  session: SimulatedSession,
  workerId: string,
  { outcome, cycle, isHandoff }: CycleReport,
): SessionInput {
  const usage = measureUse(session, workerId);
  const handoff = isHandoff ? { handoffId: "handoff_1" } : {};
  const result = { outcome, text: "Result", reason: null, usage, ...handoff };
  return { type: "worker-finished", workerId, cycle, result };
}

/** The whole use of a worker. It stays within the caps, and grows until it is reported at the end. */
function measureUse(session: SimulatedSession, workerId: string): BudgetAmounts {
  const { budget = {}, usage, status } = findOpenWorker(session, workerId) ?? {};
  const { toolCalls = 0, invocations = 0 } = usage ?? {};
  const isReported = status === "completed" || status === "failed" || status === "stopped";
  if (usage !== undefined && isReported) return usage;
  return {
    tokens: 0,
    seconds: 0,
    usd: 0,
    toolCalls: Math.min(budget.toolCalls ?? Infinity, toolCalls + 1),
    invocations: Math.min(budget.invocations ?? Infinity, invocations + 2),
  };
}

/** Performs a due effect with a plausible result, or submits a prompt. */
export function performNextEffect(
  session: SimulatedSession,
  { calls, pick: at }: { readonly calls: readonly WorkerCall[]; readonly pick: number },
): SessionInput {
  const effects = session.effects.filter(({ type }) => type !== "follow-worker");
  const effect = effects[at % Math.max(1, effects.length)];
  switch (effect?.type) {
    case "invoke": {
      const items = calls.map((call, index) => {
        const inputText = toInputText(session, call);
        return { kind: "client", id: `c${index}`, name: call.name, inputText } as const;
      });
      const outputs = turnOfItems(items, null);
      return { type: "provider-events", invocationId: effect.invocationId, outputs };
    }
    case "run-tool": {
      const { toolCallId, attempt, providerToolCallId } = effect;
      const result = createToolSuccess(providerToolCallId, "ok");
      const ended = { toolCallId, attempt, result, ending: "succeeded", durationMs: 1 } as const;
      return { type: "tool-finished", ...ended };
    }
    case "resolve-paths":
      return examined(effect, "inside");
    case "settle-upstream":
      return { ...effect, type: "upstream-settled" };
    case "run-worker": {
      const { workerId, cycle } = effect.worker;
      return finishCycle(session, workerId, { outcome: "completed", cycle, isHandoff: false });
    }
    case "close-worker": {
      const { workerId } = effect.worker;
      return { type: "worker-closed", workerId, usage: measureUse(session, workerId) };
    }
    default:
      return createPrompt(session);
  }
}
