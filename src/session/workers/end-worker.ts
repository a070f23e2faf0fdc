import type { Failure } from "../../domain/errors.ts";
import type { BudgetAmounts } from "../../domain/budget.ts";
import { isTerminalStatus, type Worker } from "../../domain/workers/worker.ts";
import { cutText } from "../../text/cut-text.ts";
import type { Decision } from "../decision.ts";
import type { WorkerCycleResult } from "../session-input.ts";
import { cancelWorker, withdrawApprovals } from "./worker-commands.ts";

/**
 * Ends a cycle of a worker. A worker which handed its work over has stopped, even if the worker is retriggerable. A turn
 * that reached a limit counts as a failure. The requests of a waiting worker's own workers stay open.
 */
export function endCycle(decision: Decision, worker: Worker, ended: WorkerCycleResult): void {
  const { workerId, isRetriggerable } = worker;
  const { outcome, usage, handoffId, artifactCount = 0 } = ended;
  if (outcome === "cancelled") return cancelWorker(decision, worker, "session");
  const isWaiting = outcome === "completed" && handoffId === undefined && isRetriggerable;
  if (!isWaiting) withdrawApprovals(decision, workerId);
  if (outcome !== "completed") {
    const failure = readCycleFailure(ended);
    return decision.emit({ type: "worker.failed", workerId, failure, usage });
  }
  const text = shortenResult(ended.text, worker);
  const result = { text, usage, ...(artifactCount > 0 && { artifactCount }) };
  if (handoffId !== undefined)
    return decision.emit({ type: "worker.stopped", workerId, result, handoffId });
  if (isWaiting) decision.emit({ type: "worker.waiting_for_input", workerId, result });
  else decision.emit({ type: "worker.completed", workerId, result });
}

/** Records that the session of an ended worker is at rest. */
export function recordClosed(decision: Decision, worker: Worker, usage: BudgetAmounts): void {
  const { workerId, status } = worker;
  if (isTerminalStatus(status)) decision.emit({ type: "worker.closed", workerId, usage });
}

/** The failure of a cycle which is neither completed nor cancelled. */
export function readCycleFailure({ failure, reason }: WorkerCycleResult): Failure {
  if (failure !== undefined) return failure;
  const message = `The turn of the worker ended at a limit: ${reason ?? "unknown"}`;
  return { code: "halted", message, details: {} };
}

export function shortenResult(text: string, { sessionId }: Worker): string {
  if (text.length <= MAX_RESULT_LENGTH) return text;
  return `${cutText(text, MAX_RESULT_LENGTH)}… (shortened; the session ${sessionId} has the whole text)`;
}

const MAX_RESULT_LENGTH = 32_000;
