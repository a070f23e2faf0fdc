import type { PlacedUpdate, Task, TaskUpdate } from "./task.ts";

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

export type ArtifactUpdate = Extract<TaskUpdate, { readonly type: "artifact" }>;
