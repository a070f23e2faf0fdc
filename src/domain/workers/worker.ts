import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { AgentSpec, WorkerAudit } from "../agent-spec.ts";
import type { BudgetAmounts, BudgetUnit } from "../budget.ts";
import type { Failure } from "../errors.ts";
import type {
  InheritedReminder,
  WorkerEvent,
  WorkerResult,
  WorkerSpawned,
} from "../events/worker-events.ts";
import { readPolicyLists } from "../policy/policy-lists.ts";

/** The runtime tools with which an agent delegates. Available if the agent's definition has `workers`. */
export const DELEGATE_TOOL = "delegate";
export const WORKER_TRIGGER_TOOL = "worker_trigger";
export const CLOSE_AGENT_TOOL = "close_agent";

export const WORKER_TOOLS: readonly string[] = [
  DELEGATE_TOOL,
  WORKER_TRIGGER_TOOL,
  CLOSE_AGENT_TOOL,
];

export const DEFAULT_MAX_DEPTH = 3;
export const DEFAULT_MAX_OPEN = 8;

/** The persisted state of a worker. The bridge protocol sends the same words. */
export const WORKER_STATUSES = [
  "running",
  "progressed",
  "awaiting_input",
  "completed",
  "failed",
  "stopped",
  "cancelled",
] as const;
export type WorkerStatus = (typeof WORKER_STATUSES)[number];

/** Whether a worker has ended. No status follows a terminal one. */
export function isTerminalStatus(status: WorkerStatus): boolean {
  return TERMINAL.has(status);
}

const TERMINAL: ReadonlySet<WorkerStatus> = new Set([
  "completed",
  "failed",
  "stopped",
  "cancelled",
]);

/** `thinker (reviewer)`: the name of a worker and its agent, for people. */
export function formatWorkerName({
  name,
  agent,
}: {
  readonly name: string;
  readonly agent?: string;
}): string {
  return agent === undefined || agent === name ? name : `${name} (${agent})`;
}

/** A worker of a session, folded from the session's log. */
export interface Worker extends Omit<WorkerSpawned, "type"> {
  readonly status: WorkerStatus;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** Start of the current cycle. */
  readonly startedAt: number;
  readonly finishedAt: number | null;
  /** Start of the wait for the next trigger. Null while the worker does not wait. */
  readonly awaitingSince: number | null;
  /** The turn which started the current cycle. Absent if a command started the cycle between two turns. */
  readonly turnId?: string;
  /** Why the worker failed. Null otherwise. */
  readonly failure: Failure | null;
  /** Used by the worker's session so far, as last reported. */
  readonly usage: BudgetAmounts;
  /** Artifacts and handoffs of the worker's session, as last reported. */
  readonly artifactCount: number;
  /** The last reminders for the worker since its start, oldest first. */
  readonly reminders: readonly InheritedReminder[];
}

/** Reminders which a worker keeps until its session has their copies. */
export const MAX_INHERITED_REMINDERS = 32;

/** Position of an event in the log. */
interface EventPlace {
  readonly at: number;
  readonly turnId?: string;
}

/** Applies an event to its worker. Undefined if the worker is unknown, or is closed. */
export function evolveWorker(
  worker: Worker | undefined,
  event: WorkerEvent,
  { at, turnId }: EventPlace,
): Worker | undefined {
  if (event.type === "worker.spawned")
    return startCycle(worker, event, { at, ...omitUndefined({ turnId }) });
  if (worker === undefined) return undefined;
  switch (event.type) {
    case "worker.progressed":
      return { ...worker, status: "progressed", awaitingSince: null };
    case "worker.waiting_for_input":
      return { ...applyResult(worker, event.result), status: "awaiting_input", awaitingSince: at };
    case "worker.completed":
      return endWorker(applyResult(worker, event.result), "completed", at);
    case "worker.stopped":
      return endWorker(applyResult(worker, event.result), "stopped", at);
    case "worker.failed": {
      const { failure, usage } = event;
      return { ...endWorker(worker, "failed", at), failure, usage };
    }
    case "worker.cancelled":
      return endWorker(worker, "cancelled", at);
    case "worker.reminded": {
      const { reminderId, reminder } = event;
      const reminders = [...worker.reminders, { reminderId, reminder }];
      return { ...worker, reminders: reminders.slice(-MAX_INHERITED_REMINDERS) };
    }
    case "worker.closed":
      return undefined;
    default:
      return event satisfies never;
  }
}

function startCycle(
  worker: Worker | undefined,
  event: WorkerSpawned,
  { at, ...place }: EventPlace,
): Worker {
  const { type: _, ...spawned } = event;
  return {
    ...spawned,
    ...place,
    status: "running",
    createdAt: worker?.createdAt ?? at,
    startedAt: at,
    finishedAt: null,
    awaitingSince: null,
    failure: null,
    usage: worker?.usage ?? NO_USAGE,
    artifactCount: worker?.artifactCount ?? 0,
    reminders: worker?.reminders ?? [],
  };
}

function applyResult(worker: Worker, { usage, artifactCount = 0 }: WorkerResult): Worker {
  return { ...worker, usage, artifactCount };
}

function endWorker(worker: Worker, status: WorkerStatus, at: number): Worker {
  return { ...worker, status, finishedAt: at, awaitingSince: null };
}

const NO_USAGE: BudgetAmounts = { tokens: 0, seconds: 0, toolCalls: 0, invocations: 0, usd: 0 };

/** The part of the mutation record which depends on the agent. Undefined without a mutation scope. */
export function readWorkerAudit(
  agent: Pick<AgentSpec, "mutationScope" | "policy" | "approvals">,
): WorkerAudit | undefined {
  const { mutationScope, policy, approvals } = agent;
  if (mutationScope === undefined) return undefined;
  if (policy !== undefined) return { mutationScope, ...readPolicyLists(policy) };
  const { allow: autoApprove, deny: autoDeny, ask: requireApproval } = approvals;
  return { mutationScope, autoApprove, autoDeny, requireApproval, writePathAllowlist: null };
}

/** Returns the id of a worker whose tool call has this id. Both ids name the same delegation. */
export function createWorkerId(toolCallId: string): string {
  return `worker_${toolCallId.slice(toolCallId.indexOf("_") + 1)}`;
}

/**
 * Returns the id of a worker's session. Derived from the id of the worker, so a repeated delegation finds the session
 * of the first attempt.
 */
export function deriveWorkerSessionId(workerId: string): string {
  return `ses_${workerId.slice(workerId.indexOf("_") + 1)}`;
}

/** The request of a worker as JSON, as a host or a model wrote the request. */
export function describeRequest(worker: Worker): JsonObject {
  const { task, name, agent, mode, isBackground, isRetriggerable, budget } = worker;
  const caps: JsonObject | undefined = budget === undefined ? undefined : { ...budget };
  return {
    task,
    name,
    agent,
    mode,
    background: isBackground,
    retriggerable: isRetriggerable,
    ...omitUndefined({ budget: caps }),
  };
}

/** Whether a worker was cut off and its use is not known yet: the use is reported when the worker is closed. */
function isUseUnknown({ status }: Pick<Worker, "status">): boolean {
  return status === "cancelled";
}

/** Whether the turn need not ask for a larger budget yet: a tool call waits for the worker, or the worker is being closed. */
export function isReservationEnding(worker: Worker): boolean {
  const { isBackground, toolCallId, status } = worker;
  const isAwaited = !isBackground && toolCallId !== undefined && status === "running";
  return isAwaited || isUseUnknown(worker);
}

/** The rest of the caps of workers whose use may still grow: reserved in the budgets of their session. */
export function measureReservedAmounts(workers: readonly Worker[]): Partial<BudgetAmounts> {
  const reserving = workers.filter(
    (worker) => !isTerminalStatus(worker.status) || isUseUnknown(worker),
  );
  const sum = (unit: BudgetUnit): number =>
    reserving.reduce((total, { budget, usage }) => {
      const cap = budget?.[unit];
      return cap === undefined ? total : total + Math.max(0, cap - usage[unit]);
    }, 0);
  return {
    tokens: sum("tokens"),
    toolCalls: sum("toolCalls"),
    invocations: sum("invocations"),
    usd: sum("usd"),
  };
}
