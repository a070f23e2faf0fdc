import type { Draft } from "../../domain/events/envelope.ts";
import type { WorkerEvent } from "../../domain/events/worker-events.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { evolveWorker, isTerminalStatus, type Worker } from "../../domain/workers/worker.ts";

export interface WorkersState {
  /** Workers which run, wait for a trigger, or have ended and are not closed yet. In the order of their creation. */
  readonly open: readonly Worker[];
}

export const initialWorkers: WorkersState = { open: [] };

export function evolveWorkers(
  workers: WorkersState,
  event: WorkerEvent,
  { at, turnId }: Pick<Draft, "at" | "turnId">,
): WorkersState {
  const earlier = findWorker(workers, event.workerId);
  const worker = evolveWorker(earlier, event, { at, ...omitUndefined({ turnId }) });
  if (earlier === undefined)
    return worker === undefined ? workers : { open: [...workers.open, worker] };
  const open = workers.open.flatMap((entry) =>
    entry === earlier ? (worker === undefined ? [] : [worker]) : [entry],
  );
  return { open };
}

export function findWorker({ open }: WorkersState, workerId: string): Worker | undefined {
  return open.find((worker) => worker.workerId === workerId);
}

/** Workers which have not ended. */
export function listActiveWorkers({ open }: WorkersState): readonly Worker[] {
  return open.filter(({ status }) => !isTerminalStatus(status));
}

/** Whether the worker's session has to be followed. */
export function isRunningWorker({ status }: Worker): boolean {
  return status === "running" || status === "progressed";
}

/** The worker for whose result a tool call waits. Undefined if the call waits for none. */
export function findAwaitedWorker(workers: WorkersState, toolCallId: string): Worker | undefined {
  return workers.open.find(
    (worker) => worker.toolCallId === toolCallId && !worker.isBackground && isRunningWorker(worker),
  );
}

/** Whether a worker runs, or an ended worker is not closed yet. */
export function hasOpenWorkerEffects({ open }: WorkersState): boolean {
  return open.some(({ status }) => status !== "awaiting_input");
}
