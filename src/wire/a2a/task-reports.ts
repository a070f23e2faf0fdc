import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { PlanUpdated, ProgressReported } from "../../domain/events/tool-events.ts";
import type { WorkerLifecycleEvent } from "../../domain/events/worker-events.ts";
import { AGENT_PROGRESS_TOOL, formatProgress } from "../../domain/outputs/progress-report.ts";
import { evolveWorker } from "../../domain/workers/worker.ts";
import { encodePlanEntry } from "../bridge/plan-entry.ts";
import { createWorkerUpdate } from "../bridge/worker-update.ts";
import { formatChecklist } from "./format-checklist.ts";
import { createAgentMessage } from "./task-lifecycle.ts";
import { emitUpdate } from "./task-snapshot.ts";
import type { TaskFold } from "./task-state.ts";
import type { PlacedUpdate } from "./task.ts";

/** Sends a plan. Entries which the agent reported as progress are a status, with the entries as a checklist. */
export function emitPlan(
  fold: TaskFold,
  { entries, plan }: PlanUpdated,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  if (plan?.tool === AGENT_PROGRESS_TOOL)
    return sendProgress(fold, formatChecklist(entries), emit, envelope);
  const update = {
    type: "harn_plan",
    status: fold.status,
    entries: entries.map(encodePlanEntry),
    ...omitUndefined({ plan }),
  } as const;
  emitUpdate(fold, update, emit, envelope);
}

export function emitProgress(
  fold: TaskFold,
  report: ProgressReported,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  sendProgress(fold, formatProgress(report), emit, envelope);
}

/** Progress does not change the state of the task: with open requests, the task still needs input. */
function sendProgress(
  fold: TaskFold,
  text: string,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const message = createAgentMessage(`progress-${envelope.seq}`, text);
  const status = { state: fold.status.state, message, at: envelope.at };
  // The message of an open request stays part of the task, so a later reader still sees the request.
  if (fold.openApprovals.size === 0) fold.status = status;
  emitUpdate(fold, { type: "status", status }, emit, envelope);
}

/** Sends a lifecycle event of a worker which this task started. */
export function emitWorkerUpdate(
  fold: TaskFold,
  event: WorkerLifecycleEvent,
  emit: Emit<PlacedUpdate>,
  envelope: Envelope,
): void {
  const { at, turnId, sessionId } = envelope;
  const isOwn =
    fold.workers.has(event.workerId) || (turnId !== undefined && turnId === fold.turnId);
  if (!isOwn) return;
  const place = { at, ...omitUndefined({ turnId }) };
  const worker = evolveWorker(fold.workers.get(event.workerId), event, place);
  if (worker === undefined) return;
  fold.workers.set(event.workerId, worker);
  const { lineage } = fold;
  const update = createWorkerUpdate(worker, event.type, {
    sessionId,
    lineage,
    fitTask: (task) => task,
  });
  emitUpdate(fold, { type: "worker_update", update, status: fold.status }, emit, envelope);
}
