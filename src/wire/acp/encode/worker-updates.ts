import type { JsonObject } from "../../../data/json.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { WorkerLifecycleEvent } from "../../../domain/events/worker-events.ts";
import type { Failure } from "../../../domain/errors.ts";
import {
  describeRequest,
  evolveWorker,
  isTerminalStatus,
  type Worker,
} from "../../../domain/workers/worker.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { formatIsoTime } from "../../../text/format-iso-time.ts";
import { fitText } from "../fit-json.ts";
import { encodeWorkerRecord } from "./permissions/mutation-record.ts";
import { emitVendorUpdate, type AcpOutput, type UpdateState } from "./update-state.ts";
import { encodeWorkerUpdate } from "./vendor-updates.ts";

/** The typed names of the lifecycle events. */
const LIFECYCLE_NAMES: { readonly [Type in WorkerLifecycleEvent["type"]]: string } = {
  "worker.spawned": "WorkerSpawned",
  "worker.progressed": "WorkerProgressed",
  "worker.waiting_for_input": "WorkerWaitingForInput",
  "worker.completed": "WorkerCompleted",
  "worker.failed": "WorkerFailed",
  "worker.stopped": "WorkerStopped",
  "worker.cancelled": "WorkerCancelled",
};

/** Sends one `worker_update` for each lifecycle event. */
export function encodeWorkerEvent(
  state: UpdateState,
  event: WorkerLifecycleEvent,
  emit: Emit<AcpOutput>,
  { at, turnId, sessionId }: Envelope,
): void {
  const { workers } = state;
  const worker = evolveWorker(workers.get(event.workerId), event, {
    at,
    ...omitUndefined({ turnId }),
  });
  if (worker === undefined) return;
  workers.set(event.workerId, worker);
  const lifecycleEvent = LIFECYCLE_NAMES[event.type];
  emitVendorUpdate(state, encodeLifecycle(worker, lifecycleEvent, { state, sessionId }), emit);
}

interface WorkerPlace {
  readonly state: UpdateState;
  /** The session which delegates. */
  readonly sessionId: string;
}

function encodeLifecycle(worker: Worker, event: string, { state, sessionId }: WorkerPlace) {
  const { workerId, name, mode, status, audit } = worker;
  const task = fitText(worker.task, state.lineBytes / 16);
  const record =
    audit === undefined
      ? undefined
      : encodeWorkerRecord(audit, { ...worker, parentSessionId: sessionId });
  return encodeWorkerUpdate({
    workerId,
    workerName: name,
    workerTask: task,
    workerMode: mode,
    event,
    status,
    terminal: isTerminalStatus(status),
    metadata: encodeMetadata(worker, { state, sessionId, record }),
    ...omitUndefined({ audit: record }),
  });
}

function encodeMetadata(
  worker: Worker,
  { state, sessionId, record }: WorkerPlace & { readonly record: object | undefined },
): JsonObject {
  const { workerId, mode, createdAt, startedAt, finishedAt, awaitingSince, failure } = worker;
  const { toolCallId = null, turnId = null, cycle, agent, artifactCount } = worker;
  const { lineage } = state;
  const task = fitText(worker.task, state.lineBytes / 16);
  return {
    task,
    mode,
    started_at: formatIsoTime(startedAt),
    finished_at: formatTime(finishedAt),
    awaiting_started_at: formatTime(awaitingSince),
    child_run_id: worker.sessionId,
    child_run_path: `spanline://sessions/${worker.sessionId}`,
    snapshot_path: `spanline://sessions/${sessionId}/workers/${workerId}`,
    // A record consists of JSON values.
    audit: record === undefined ? null : { ...record },
    error: encodeError(failure),
    request: { ...describeRequest(worker), task },
    provenance: { parent_session_id: sessionId, tool_call_id: toolCallId, turn_id: turnId },
    created_at: formatIsoTime(createdAt),
    artifact_count: artifactCount,
    has_transcript: true,
    parent_worker_id: lineage?.workerId ?? null,
    parent_stage_id: null,
    execution: {
      agent,
      cycle,
      depth: (lineage?.depth ?? 0) + 1,
      root_session_id: lineage?.rootSessionId ?? sessionId,
    },
  };
}

function formatTime(at: number | null): string | null {
  return at === null ? null : formatIsoTime(at);
}

function encodeError(failure: Failure | null): JsonObject | null {
  return failure === null ? null : { code: failure.code, message: failure.message };
}
