import { omitUndefined } from "../data/omit-undefined.ts";
import type { ApprovalRequested, WorkerOrigin } from "../domain/events/approval-events.ts";
import type { CommandReply, SessionCommand } from "../domain/session-command.ts";
import { isTerminalStatus, type Worker } from "../domain/workers/worker.ts";
import { copyRequest, copyResolution } from "./approvals/approval-copies.ts";
import type { Decision } from "./decision.ts";
import { formatUnknownName } from "../text/unknown-name.ts";
import { refuse } from "./refuse-command.ts";
import type { WorkerCycleResult, WorkerInput } from "./session-input.ts";
import { closeWorker, deliverWorkerEnd, type WorkerCallEnd } from "./tools/worker-calls.ts";
import { endCycle, readCycleFailure, recordClosed, shortenResult } from "./workers/end-worker.ts";
import { spawnWorker, triggerWorker, type WorkerChange } from "./workers/worker-commands.ts";
import { findWorker, isRunningWorker } from "./workers/workers-state.ts";

type WorkerCommand = Extract<
  SessionCommand,
  { readonly type: "delegate" | "trigger-worker" | "close-worker" }
>;

/** Applies a command about workers of a person or a host. */
export function applyWorkerCommand(decision: Decision, command: WorkerCommand): CommandReply {
  switch (command.type) {
    case "delegate":
      return toReply(spawnWorker(decision, { ...command, isBackground: true }));
    case "trigger-worker":
      return toReply(triggerWorker(decision, command));
    case "close-worker": {
      const { workerId } = command;
      const worker = findWorker(decision.state.workers, workerId);
      if (worker === undefined) return refuseUnknownWorker(workerId);
      if (!isTerminalStatus(worker.status)) closeWorker(decision, worker);
      return { status: "accepted", workerId, workerStatus: worker.status };
    }
    default:
      return command satisfies never;
  }
}

/** A closed worker is not part of the state: the sender of the command finds it in the log. */
function refuseUnknownWorker(workerId: string): CommandReply {
  const where = "in this session";
  const fix = "list the workers of the session";
  return refuse("not_found", formatUnknownName("Worker", workerId, { where, fix }));
}

function toReply(change: WorkerChange): CommandReply {
  if (change.status === "refused") return refuse(change.failure.code, change.failure.message);
  const { workerId, status: workerStatus } = change.worker;
  return { status: "accepted", workerId, workerStatus };
}

/** Applies a report about the session of a worker. A report about an ended worker or cycle is ignored. */
export function applyWorkerInput(decision: Decision, input: WorkerInput): void {
  const worker = findWorker(decision.state.workers, input.workerId);
  if (worker === undefined) return;
  switch (input.type) {
    case "worker-finished":
      if (isRunningWorker(worker) && worker.cycle === input.cycle)
        finishCycle(decision, worker, input.result);
      return;
    case "worker-approval-requested":
      if (!isTerminalStatus(worker.status)) copyApproval(decision, worker, input.request);
      return;
    case "worker-approval-resolved":
      return copyResolution(decision, worker.workerId, input.resolution);
    case "worker-closed":
      return recordClosed(decision, worker, input.usage);
    default:
      return input satisfies never;
  }
}

function copyApproval(decision: Decision, worker: Worker, request: ApprovalRequested): void {
  const { workerId: through, name, agent, sessionId, audit } = worker;
  const origin: WorkerOrigin =
    request.worker === undefined
      ? { workerId: through, name, agent, sessionId, through, ...omitUndefined({ audit }) }
      : { parentSessionId: sessionId, ...request.worker, through };
  copyRequest(decision, request, origin);
}

function finishCycle(decision: Decision, worker: Worker, result: WorkerCycleResult): void {
  endCycle(decision, worker, result);
  deliverWorkerEnd(decision, worker, formatCycleEnd(worker, result));
}

function formatCycleEnd(worker: Worker, ended: WorkerCycleResult): WorkerCallEnd {
  const { workerId, name, isRetriggerable } = worker;
  const text = shortenResult(ended.text, worker);
  if (ended.outcome === "cancelled")
    return { ending: "cancelled", text: `The worker ${name} was cancelled.` };
  if (ended.outcome !== "completed") {
    const { message } = readCycleFailure(ended);
    const last = text === "" ? "" : `\nIts last text: ${text}`;
    return { ending: "failed", text: `The worker ${name} failed: ${message}${last}` };
  }
  const waits = isRetriggerable && ended.handoffId === undefined;
  const note = waits ? `\n\n[The worker ${workerId} waits for worker_trigger.]` : "";
  return { ending: "succeeded", text: `${text === "" ? "(no text)" : text}${note}` };
}
