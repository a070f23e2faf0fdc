import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import type { ArtifactUpdate, Dialect } from "./dialect.ts";
import { PLAN_KEY, SEQUENCE_KEY, WORKER_UPDATE_KEY } from "./extensions.ts";
import {
  isTerminalState,
  type PlacedUpdate,
  type Task,
  type TaskArtifact,
  type TaskMessage,
  type TaskPart,
  type TaskReference,
  type TaskStatus,
} from "./task.ts";

/** A2A 0.3: every object has a `kind`, and a status update says whether it is the last. */
export const A2A_V03: Dialect = {
  version: "0.3",
  encodeTask,
  encodeSent: encodeTask,
  encodeUpdate(placed) {
    const { update } = placed;
    switch (update.type) {
      case "task":
        return encodeTask(update.task);
      case "status":
        return encodeStatusUpdate(
          placed,
          update.status,
          omitUndefined({ reason: update.status.reason }),
        );
      case "artifact":
        return encodeArtifactUpdate(placed, update);
      case "worker_update":
        return encodeStatusUpdate(placed, update.status, {
          [WORKER_UPDATE_KEY]: update.update,
        });
      case "harn_plan": {
        const { entries, plan } = update;
        const carried = { [PLAN_KEY]: { entries, ...omitUndefined({ plan }) } };
        return encodeStatusUpdate(placed, update.status, carried);
      }
      default:
        return update satisfies never;
    }
  },
};

function encodeTask(task: Task): object {
  const { taskId, contextId, status, artifacts, history, sequence } = task;
  return {
    kind: "task",
    id: taskId,
    contextId,
    status: encodeStatus(status, task),
    ...omitUndefined({
      artifacts: artifacts?.map(encodeArtifact),
      history: history?.map((message) => encodeMessage(message, task)),
    }),
    metadata: { [SEQUENCE_KEY]: sequence },
  };
}

function encodeStatusUpdate(placed: PlacedUpdate, status: TaskStatus, fields: object): object {
  const { taskId, contextId, sequence } = placed;
  return {
    kind: "status-update",
    taskId,
    contextId,
    status: encodeStatus(status, placed),
    final: isTerminalState(status.state),
    metadata: { [SEQUENCE_KEY]: sequence, ...fields },
  };
}

function encodeArtifactUpdate(placed: PlacedUpdate, update: ArtifactUpdate): object {
  const { taskId, contextId, sequence } = placed;
  return {
    kind: "artifact-update",
    taskId,
    contextId,
    artifact: encodeArtifact(update.artifact),
    append: update.isAppended,
    lastChunk: update.isLast,
    metadata: { [SEQUENCE_KEY]: sequence },
  };
}

function encodeStatus({ state, message, at }: TaskStatus, place: TaskReference): object {
  return {
    state,
    ...(message !== undefined && { message: encodeMessage(message, place) }),
    timestamp: formatIsoTime(at),
  };
}

export function encodeMessage(
  { messageId, role, parts }: TaskMessage,
  { taskId, contextId }: TaskReference,
): object {
  return { kind: "message", messageId, taskId, contextId, role, parts: parts.map(encodePart) };
}

function encodeArtifact({ artifactId, name, parts, metadata }: TaskArtifact): object {
  return { artifactId, name, parts: parts.map(encodePart), ...omitUndefined({ metadata }) };
}

function encodePart(part: TaskPart): object {
  if (part.type === "text") return { kind: "text", text: part.text };
  const { data, mediaType } = part;
  return {
    kind: "data",
    // The data of 0.3 is always an object.
    data:
      typeof data === "object" && data !== null && !Array.isArray(data) ? data : { value: data },
    ...(mediaType !== undefined && { metadata: { mediaType } }),
  };
}
