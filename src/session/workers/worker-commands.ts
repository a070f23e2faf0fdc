import type { JsonValue } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { WorkerAgent, WorkerAudit, WorkersSpec } from "../../domain/agent-spec.ts";
import type { Failure } from "../../domain/errors.ts";
import type {
  InheritedReminder,
  WorkerCancelReason,
  WorkerSpawned,
} from "../../domain/events/worker-events.ts";
import { isPropagated } from "../../domain/reminder.ts";
import { selectStricterMode, type SessionMode } from "../../domain/session-mode.ts";
import {
  createWorkerId,
  deriveWorkerSessionId,
  isTerminalStatus,
  MAX_INHERITED_REMINDERS,
  type Worker,
} from "../../domain/workers/worker.ts";
import {
  DEFAULT_WORKER_MODE,
  deriveWorkerName,
  formatPayload,
  type DelegateRequest,
} from "../../domain/workers/worker-request.ts";
import { formatNames } from "../../text/unknown-name.ts";
import { pluralize } from "../../text/pluralize.ts";
import { resolveWithoutDecision } from "../approvals/approval-requests.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { listInheritableReminders } from "../steering/steering-state.ts";
import { findWorker, listActiveWorkers } from "./workers-state.ts";
import { findBudgetShortage, reserveBudget } from "./worker-budget.ts";

export type WorkerChange =
  | { readonly status: "accepted"; readonly worker: Worker }
  | { readonly status: "refused"; readonly failure: Failure };

/** Starts the first cycle of a worker. `toolCallId`: the tool call which delegates. */
export function spawnWorker(
  decision: Decision,
  request: DelegateRequest,
  toolCallId?: string,
): WorkerChange {
  const { workers } = readAgentSpec(decision);
  if (workers === undefined)
    return refuseChange(
      "conflict",
      'The agent has no workers. Fix: set "workers" in its definition',
    );
  const agent = findWorkerAgent(workers, request.agent);
  if (agent === undefined) {
    const names = formatNames(workers.agents.map(({ name }) => name));
    return refuseChange(
      "not_found",
      `"${request.agent}" is not an agent for workers: expected ${names}`,
    );
  }
  const limit = findReachedLimit(decision, workers);
  if (limit !== undefined) return refuseChange("conflict", limit);
  const budget = reserveBudget(decision, workers, request.budget);
  if (budget.status === "refused") return refuseChange("quota_exceeded", budget.message);
  const workerId =
    toolCallId === undefined ? decision.ids.next("worker") : createWorkerId(toolCallId);
  const { task, name = deriveWorkerName(task), mode = DEFAULT_WORKER_MODE } = request;
  const { mode: sessionMode } = decision.state;
  const { audit } = agent;
  const inherited = listInheritableReminders(decision.state.steering).slice(
    -MAX_INHERITED_REMINDERS,
  );
  decision.emit({
    type: "worker.spawned",
    workerId,
    sessionId: deriveWorkerSessionId(workerId),
    agent: agent.name,
    name,
    task,
    mode,
    isBackground: request.isBackground,
    isRetriggerable: request.isRetriggerable,
    cycle: 1,
    prompt: task,
    ...omitUndefined({ toolCallId, budget: budget.caps }),
    ...(inherited.length > 0 && { inherited }),
    ...createModeFields(sessionMode, audit),
  });
  return acceptChange(decision, workerId);
}

/** The session mode of a worker, and the audit record in this mode. */
function createModeFields(
  sessionMode: SessionMode,
  audit: WorkerAudit | undefined,
): Pick<WorkerSpawned, "sessionMode" | "audit"> {
  const isReadOnly = sessionMode === "read-only";
  return {
    ...(sessionMode !== "default" && { sessionMode }),
    ...(audit !== undefined && {
      audit: isReadOnly ? { ...audit, mutationScope: "read_only" } : audit,
    }),
  };
}

function findWorkerAgent(
  { agents }: WorkersSpec,
  name: string | undefined,
): WorkerAgent | undefined {
  return name === undefined ? agents[0] : agents.find((agent) => agent.name === name);
}

function findReachedLimit(
  { state }: Decision,
  { maxDepth, maxOpen }: WorkersSpec,
): string | undefined {
  const depth = (state.lineage?.depth ?? 0) + 1;
  if (depth > maxDepth)
    return `Workers may be nested ${pluralize(maxDepth, "level")} deep, and this session is at level ${depth - 1}. Fix: do the work in this session`;
  const open = listActiveWorkers(state.workers).length;
  if (open < maxOpen) return undefined;
  return `${pluralize(open, "worker")} of this session are open, and at most ${maxOpen} may be. Fix: wait for one, or close one`;
}

/** Starts the next cycle of a waiting worker. `toolCallId`: the tool call which triggers the worker. */
export function triggerWorker(
  decision: Decision,
  { workerId, payload }: { readonly workerId: string; readonly payload: JsonValue },
  toolCallId?: string,
): WorkerChange {
  const worker = findWorker(decision.state.workers, workerId);
  if (worker === undefined || isTerminalStatus(worker.status))
    return refuseChange("not_found", `"${workerId}" is not an open worker of this session`);
  if (worker.status !== "awaiting_input") {
    const message = `The worker ${workerId} is ${worker.status}. Fix: trigger the worker when it awaits input`;
    return refuseChange("conflict", message);
  }
  const shortage = findBudgetShortage(decision, worker);
  if (shortage !== undefined) return refuseChange("quota_exceeded", shortage);
  decision.emit({ type: "worker.progressed", workerId, payload });
  const { agent, sessionId, name, task, mode, isBackground, isRetriggerable, cycle } = worker;
  const { budget, sessionMode: earlierMode = "default", audit } = worker;
  const sessionMode = selectStricterMode(decision.state.mode, earlierMode);
  decision.emit({
    type: "worker.spawned",
    workerId,
    sessionId,
    agent,
    name,
    task,
    mode,
    isBackground,
    isRetriggerable,
    cycle: cycle + 1,
    prompt: formatPayload(payload),
    ...omitUndefined({ toolCallId, budget }),
    ...createModeFields(sessionMode, audit),
  });
  return acceptChange(decision, workerId);
}

/** Passes an accepted reminder on to the open workers. */
export function remindWorkers(
  decision: Decision,
  { reminderId, reminder }: InheritedReminder,
): void {
  if (!isPropagated(reminder)) return;
  for (const { workerId } of listActiveWorkers(decision.state.workers))
    decision.emit({ type: "worker.reminded", workerId, reminderId, reminder });
}

/** Cancels a worker which has not ended. Its open approval requests are withdrawn. */
export function cancelWorker(
  decision: Decision,
  { workerId }: Pick<Worker, "workerId">,
  reason: WorkerCancelReason,
): void {
  withdrawApprovals(decision, workerId);
  decision.emit({ type: "worker.cancelled", workerId, reason });
}

/** Closes the copies of the worker's approval requests which are still open. */
export function withdrawApprovals(decision: Decision, workerId: string): void {
  for (const request of decision.state.approvals.pending) {
    if (request.worker?.through === workerId) resolveWithoutDecision(decision, request, "cancel");
  }
}

function acceptChange({ state }: Decision, workerId: string): WorkerChange {
  const worker = findWorker(state.workers, workerId);
  if (worker === undefined) throw new Error(`The worker ${workerId} was not spawned`);
  return { status: "accepted", worker };
}

function refuseChange(code: Failure["code"], message: string): WorkerChange {
  return { status: "refused", failure: { code, message, details: {} } };
}
