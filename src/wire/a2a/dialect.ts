import type { Task, TaskUpdate, PlacedUpdate, TaskStatus } from "./task.ts";

export type ProtocolVersion = "1.0" | "0.3";

/** How one version of the protocol writes tasks. */
export interface Dialect {
  readonly version: ProtocolVersion;
  encodeTask(task: Task): object;
  /** Encodes one entry of a stream. */
  encodeUpdate(placed: PlacedUpdate): object;
  /** Encodes the result of a request that sends a message. */
  encodeSent(task: Task): object;
}

/** The status which carries an update that A2A has no entry for. */
export function createCarrier({ at }: PlacedUpdate): TaskStatus {
  return { state: "working", at };
}

export type ArtifactUpdate = Extract<TaskUpdate, { readonly type: "artifact" }>;
