import type { JsonObject } from "../../data/json.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import type { ArtifactUpdate, Dialect } from "./dialect.ts";
import { PLAN_KEY, SEQUENCE_KEY, WORKER_UPDATE_KEY } from "./extensions.ts";
import {
  TASK_STATES,
  type PlacedUpdate,
  type Task,
  type TaskArtifact,
  type TaskMessage,
  type TaskPart,
  type TaskReference,
  type TaskState,
  type TaskStatus,
} from "./task.ts";

/** A2A 1.0: the JSON form of its protocol buffers. */
export const A2A_V1: Dialect = {
  version: "1.0",
  encodeTask,
  encodeSent: (task) => ({ task: encodeTask(task) }),
  encodeUpdate(placed) {
    const { update } = placed;
    switch (update.type) {
      case "task":
        return { task: encodeTask(update.task) };
      case "status":
        return { statusUpdate: encodeStatusUpdate(placed, update.status) };
      case "artifact":
        return { artifactUpdate: encodeArtifactUpdate(placed, update) };
      case "worker_update":
        return {
          statusUpdate: encodeCarrier(placed, update.status, {
            [WORKER_UPDATE_KEY]: update.update,
          }),
        };
      case "harn_plan": {
        const { entries, plan } = update;
        const carried = { [PLAN_KEY]: { entries, ...omitUndefined({ plan }) } };
        return { statusUpdate: encodeCarrier(placed, update.status, carried) };
      }
      default:
        return update satisfies never;
    }
  },
};

function encodeTask(task: Task): object {
  const { taskId, contextId, status, artifacts = [], history = [], sequence } = task;
  return {
    id: taskId,
    contextId,
    status: encodeStatus(status, task),
    // An empty list of protocol buffers is absent in JSON.
    ...(artifacts.length > 0 && { artifacts: artifacts.map(encodeArtifact) }),
    ...(history.length > 0 && { history: history.map((message) => encodeMessage(message, task)) }),
    metadata: { [SEQUENCE_KEY]: sequence },
  };
}

function encodeStatusUpdate(placed: PlacedUpdate, status: TaskStatus): object {
  const { taskId, contextId } = placed;
  return {
    taskId,
    contextId,
    status: encodeStatus(status, placed),
    metadata: createMetadata(placed, omitUndefined({ reason: status.reason })),
  };
}

/** A status update whose metadata carries an update for which A2A has no entry. The status itself is unchanged. */
function encodeCarrier(placed: PlacedUpdate, status: TaskStatus, carried: object): object {
  const { taskId, contextId } = placed;
  return {
    taskId,
    contextId,
    status: encodeStatus(status, placed),
    metadata: createMetadata(placed, carried),
  };
}

function encodeArtifactUpdate(placed: PlacedUpdate, update: ArtifactUpdate): object {
  const { taskId, contextId } = placed;
  return {
    taskId,
    contextId,
    artifact: encodeArtifact(update.artifact),
    append: update.isAppended,
    lastChunk: update.isLast,
    metadata: createMetadata(placed, {}),
  };
}

function createMetadata({ sequence }: PlacedUpdate, fields: object): object {
  return { [SEQUENCE_KEY]: sequence, ...fields };
}

function encodeStatus({ state, message, at }: TaskStatus, place: TaskReference): object {
  return {
    state: STATES[state],
    ...(message !== undefined && { message: encodeMessage(message, place) }),
    timestamp: formatIsoTime(at),
  };
}

function encodeMessage(
  { messageId, role, parts }: TaskMessage,
  { taskId, contextId }: TaskReference,
): object {
  const wireRole = role === "user" ? "ROLE_USER" : "ROLE_AGENT";
  return { messageId, contextId, taskId, role: wireRole, parts: parts.map(encodePart) };
}

function encodeArtifact({ artifactId, name, parts, metadata }: TaskArtifact): object {
  return { artifactId, name, parts: parts.map(encodePart), ...omitUndefined({ metadata }) };
}

function encodePart(part: TaskPart): JsonObject | object {
  if (part.type === "text") return { text: part.text };
  return { data: part.data, ...omitUndefined({ mediaType: part.mediaType }) };
}

/** Reads the name of a state, for filters. Undefined for an unknown name. */
export function parseState(name: string): TaskState | undefined {
  return STATE_NAMES.get(name);
}

const STATES: { readonly [State in TaskState]: string } = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  completed: "TASK_STATE_COMPLETED",
  canceled: "TASK_STATE_CANCELED",
  failed: "TASK_STATE_FAILED",
  rejected: "TASK_STATE_REJECTED",
};

const STATE_NAMES: ReadonlyMap<string, TaskState> = new Map(
  TASK_STATES.map((state) => [STATES[state], state]),
);
