import { omitUndefined } from "../../../data/omit-undefined.ts";
import { silent } from "../../../domain/event-rules.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { WorkerEvent, WorkerLifecycleEvent } from "../../../domain/events/worker-events.ts";
import { evolveWorker } from "../../../domain/workers/worker.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";

/** A worker is one card, which each event of its life changes. */
export const WORKER_RULES: ViewRules<WorkerEvent> = {
  "worker.spawned": changeCard,
  "worker.progressed": changeCard,
  "worker.waiting_for_input": changeCard,
  "worker.completed": changeCard,
  "worker.failed": changeCard,
  "worker.stopped": changeCard,
  "worker.cancelled": changeCard,
  "worker.reminded": silent("the session of the worker shows the reminder"),
  "worker.closed": silent("the end of the worker is shown"),
};

function changeCard(
  draft: ViewDraft,
  event: WorkerLifecycleEvent,
  { at, seq, turnId }: Envelope,
): void {
  const key = `worker:${event.workerId}`;
  const card = draft.findItem("worker", key);
  const worker = evolveWorker(card?.worker, event, { at, ...omitUndefined({ turnId }) });
  if (worker === undefined) return;
  const result = "result" in event ? event.result.text : (card?.result ?? null);
  if (card === undefined) draft.view.workerCount += 1;
  const place = card ?? { key, at, seq };
  draft.addItem({ ...place, kind: "worker", worker, result });
}
