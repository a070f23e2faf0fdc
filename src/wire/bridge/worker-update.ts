import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { Failure } from "../../domain/errors.ts";
import type { WorkerLifecycleEvent } from "../../domain/events/worker-events.ts";
import type { SessionLineage } from "../../domain/workers/session-lineage.ts";
import { describeRequest, isTerminalStatus, type Worker } from "../../domain/workers/worker.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { encodeWorkerRecord } from "./mutation-record.ts";

/** The fields of a worker's lifecycle event. ACP sends them under `_meta.harn`, A2A at the root of the stream entry. */
export interface WorkerUpdate {
  readonly workerId: string;
  readonly workerName: string;
  readonly workerTask: string;
  readonly workerMode: string;
  readonly event: string;
  readonly status: Worker["status"];
  readonly terminal: boolean;
  readonly metadata: JsonObject;
  /** Absent without a mutation scope. */
  readonly audit?: object;
}

export interface WorkerUpdateContext {
  /** The session which delegates. */
  readonly sessionId: string;
  /** The place of the delegating session in its tree. Null for a root session. */
  readonly lineage: SessionLineage | null;
  /** Shortens the task to the size of a message. */
  readonly fitTask: (task: string) => string;
}

/** Describes the state of a worker after a lifecycle event. */
export function createWorkerUpdate(
  worker: Worker,
  type: WorkerLifecycleEvent["type"],
  { sessionId, lineage, fitTask }: WorkerUpdateContext,
): WorkerUpdate {
  const { workerId, name, mode, status, audit } = worker;
  const task = fitTask(worker.task);
  const record =
    audit === undefined
      ? undefined
      : encodeWorkerRecord(audit, { ...worker, parentSessionId: sessionId });
  return {
    workerId,
    workerName: name,
    workerTask: task,
    workerMode: mode,
    event: LIFECYCLE_NAMES[type],
    status,
    terminal: isTerminalStatus(status),
    metadata: encodeMetadata({ ...worker, task }, { sessionId, lineage, record }),
    ...omitUndefined({ audit: record }),
  };
}

/** The typed names of the lifecycle events. */
const LIFECYCLE_NAMES: {
  readonly [Type in WorkerLifecycleEvent["type"]]: string;
} = {
  "worker.spawned": "WorkerSpawned",
  "worker.progressed": "WorkerProgressed",
  "worker.waiting_for_input": "WorkerWaitingForInput",
  "worker.completed": "WorkerCompleted",
  "worker.failed": "WorkerFailed",
  "worker.stopped": "WorkerStopped",
  "worker.cancelled": "WorkerCancelled",
};

interface MetadataContext extends Omit<WorkerUpdateContext, "fitTask"> {
  readonly record: object | undefined;
}

function encodeMetadata(
  worker: Worker,
  { sessionId, lineage, record }: MetadataContext,
): JsonObject {
  const { workerId, task, mode, createdAt, startedAt, finishedAt, awaitingSince, failure } = worker;
  const { toolCallId = null, turnId = null, cycle, agent, artifactCount } = worker;
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
    request: describeRequest(worker),
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
