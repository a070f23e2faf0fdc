import type { JsonValue } from "../../data/json.ts";
import type { WorkerAudit } from "../agent-spec.ts";
import type { BudgetAmounts, BudgetCaps } from "../budget.ts";
import type { Failure } from "../errors.ts";
import type { Reminder } from "../reminder.ts";
import type { SessionMode } from "../session-mode.ts";

/**
 * Events of the slice `workers`: the children of a session. Each of the first seven types is one lifecycle event of the bridge
 * protocol. A worker with one cycle:
 *
 * ```
 * worker.spawned → worker.completed | worker.failed | worker.stopped | worker.cancelled → worker.closed
 * ```
 *
 * A retriggerable worker: `worker.spawned → worker.waiting_for_input → worker.progressed → worker.spawned → …`.
 */
export type WorkerEvent =
  | WorkerSpawned
  | WorkerProgressed
  | WorkerWaitingForInput
  | WorkerCompleted
  | WorkerFailed
  | WorkerStopped
  | WorkerCancelled
  | WorkerReminded
  | WorkerClosed;

/** An event without a `worker_update`. */
type InternalWorkerEvent = WorkerReminded | WorkerClosed;

/** One of the lifecycle events of the bridge protocol. */
export type WorkerLifecycleEvent = Exclude<WorkerEvent, InternalWorkerEvent>;

/** A cycle of a worker begins. Synced before the worker's session is created. */
export interface WorkerSpawned {
  readonly type: "worker.spawned";
  readonly workerId: string;
  /** The worker's session. */
  readonly sessionId: string;
  readonly agent: string;
  readonly name: string;
  readonly task: string;
  readonly mode: string;
  /** The tool call does not wait for the result. */
  readonly isBackground: boolean;
  /** The worker waits for a trigger after each cycle. */
  readonly isRetriggerable: boolean;
  /** Starts at 1. */
  readonly cycle: number;
  /** The prompt of this cycle. */
  readonly prompt: string;
  /** The tool call which started this cycle. Absent if a command did. */
  readonly toolCallId?: string;
  /** Caps of the worker's session. Absent: none. */
  readonly budget?: BudgetCaps;
  /** The session mode in which the worker starts. Absent for `default`. */
  readonly sessionMode?: SessionMode;
  /** Absent without a mutation scope. */
  readonly audit?: WorkerAudit;
  /** The session's reminders which the worker receives with its first prompt. Absent: none. */
  readonly inherited?: readonly Reminder[];
}

/** A waiting worker was triggered. The next cycle follows. */
export interface WorkerProgressed {
  readonly type: "worker.progressed";
  readonly workerId: string;
  readonly payload: JsonValue;
}

/** The cycle of a retriggerable worker has ended. */
export interface WorkerWaitingForInput {
  readonly type: "worker.waiting_for_input";
  readonly workerId: string;
  readonly result: WorkerResult;
}

export interface WorkerCompleted {
  readonly type: "worker.completed";
  readonly workerId: string;
  readonly result: WorkerResult;
}

export interface WorkerFailed {
  readonly type: "worker.failed";
  readonly workerId: string;
  readonly failure: Failure;
  readonly usage: BudgetAmounts;
}

/** The worker handed its work over and ended. */
export interface WorkerStopped {
  readonly type: "worker.stopped";
  readonly workerId: string;
  readonly result: WorkerResult;
  readonly handoffId: string;
}

export interface WorkerCancelled {
  readonly type: "worker.cancelled";
  readonly workerId: string;
  readonly reason: WorkerCancelReason;
}

/**
 * - `closed`: a person, a host or the agent closed the worker.
 * - `turn`: the turn which waited for the worker, or started it, has ended without a result.
 * - `session`: the turn of the worker was cancelled in its own session, or its session was deleted.
 */
export type WorkerCancelReason = "closed" | "turn" | "session";

/** The session has accepted a reminder, of which the worker receives a copy. Internal; no lifecycle event. */
export interface WorkerReminded extends InheritedReminder {
  readonly type: "worker.reminded";
  readonly workerId: string;
}

/** A reminder of the session which delegates. */
export interface InheritedReminder {
  readonly reminderId: string;
  readonly reminder: Reminder;
}

/** An ended worker has no work left: its session is at rest. Internal; no lifecycle event. */
export interface WorkerClosed {
  readonly type: "worker.closed";
  readonly workerId: string;
  /** Used by the worker's session in total. */
  readonly usage: BudgetAmounts;
}

/** The result of one cycle. */
export interface WorkerResult {
  /** The agent's last message, possibly shortened. */
  readonly text: string;
  /** Used by the worker's session so far. */
  readonly usage: BudgetAmounts;
  /** Artifacts and handoffs of the worker's session so far. Absent: 0. */
  readonly artifactCount?: number;
}
