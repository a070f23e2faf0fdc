import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { WorkerLifecycleEvent } from "../../../domain/events/worker-events.ts";
import { evolveWorker } from "../../../domain/workers/worker.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { createWorkerUpdate } from "../../bridge/worker-update.ts";
import { fitText } from "../fit-json.ts";
import { emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import { encodeWorkerUpdate } from "./vendor-updates.ts";

/** Sends one `worker_update` for each lifecycle event. */
export function encodeWorkerEvent(
  state: UpdateState,
  event: WorkerLifecycleEvent,
  emit: Emit<AcpOutput>,
  { at, turnId, sessionId }: Envelope,
): void {
  const { workers, lineage = null } = state;
  const worker = evolveWorker(workers.get(event.workerId), event, {
    at,
    ...omitUndefined({ turnId }),
  });
  if (worker === undefined) return;
  workers.set(event.workerId, worker);
  const fitTask = (task: string): string => fitText(task, state.lineBytes / 16);
  const update = createWorkerUpdate(worker, event.type, { sessionId, lineage, fitTask });
  emitVendorUpdate(state, encodeWorkerUpdate({ ...update }), emit);
}
