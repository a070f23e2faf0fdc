import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { WirePlanEntry } from "../bridge/plan-entry.ts";
import type { WorkerUpdate } from "../bridge/worker-update.ts";

/** A task independent of the protocol version: 0.3 and 1.0 write other names for the same facts. */
export interface Task extends TaskReference {
  readonly status: TaskStatus;
  /** Absent if the caller did not ask for artifacts. */
  readonly artifacts?: readonly TaskArtifact[];
  /** Absent if the caller asked for no messages. */
  readonly history?: readonly TaskMessage[];
  /** Position of the last event in the log. */
  readonly sequence: number;
}

export interface TaskReference {
  readonly taskId: string;
  /** The session. */
  readonly contextId: string;
}

export interface TaskStatus {
  readonly state: TaskState;
  readonly message?: TaskMessage;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Why the task ended, in a word for programs. Absent while the task runs, and for a task that completed. */
  readonly reason?: string;
}

/**
 * - `submitted`: another turn of the session runs first.
 * - `input-required`: an approval, or a question of the agent, is open.
 */
export type TaskState = (typeof TASK_STATES)[number];

export const TASK_STATES = [
  "submitted",
  "working",
  "input-required",
  "completed",
  "canceled",
  "failed",
  "rejected",
] as const;

/** Whether a task has ended. No state follows a terminal one. */
export function isTerminalState(state: TaskState): boolean {
  return !ACTIVE.has(state);
}

const ACTIVE: ReadonlySet<TaskState> = new Set(["submitted", "working", "input-required"]);

export interface TaskMessage {
  readonly messageId: string;
  readonly role: "user" | "agent";
  readonly parts: readonly TaskPart[];
}

export type TaskPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "data"; readonly data: JsonValue | object; readonly mediaType?: string };

export interface TaskArtifact {
  readonly artifactId: string;
  readonly name: string;
  readonly parts: readonly TaskPart[];
  readonly metadata?: JsonObject;
}

/** One entry of a task's stream. */
export type TaskUpdate =
  | { readonly type: "task"; readonly task: Task }
  | { readonly type: "status"; readonly status: TaskStatus }
  | {
      readonly type: "artifact";
      readonly artifact: TaskArtifact;
      /** The parts follow those sent before. Otherwise they replace them. */
      readonly isAppended: boolean;
      readonly isLast: boolean;
    }
  /** `status`: the unchanged status of the task, for clients without an entry for workers. */
  | { readonly type: "worker_update"; readonly update: WorkerUpdate; readonly status: TaskStatus }
  | {
      readonly type: "harn_plan";
      /** The unchanged status of the task, for clients without an entry for plans. */
      readonly status: TaskStatus;
      readonly entries: readonly WirePlanEntry[];
      readonly plan?: object;
    };

/** An update with its place: the event of the log which caused the update. Each event causes at most one. */
export interface PlacedUpdate extends TaskReference {
  readonly sequence: number;
  readonly at: number;
  readonly update: TaskUpdate;
}
