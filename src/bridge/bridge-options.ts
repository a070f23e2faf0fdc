import type { SteadyClock } from "../platform/clock.ts";
import type { Agent } from "../session/runtime/agent/agent.ts";
import type { Seed } from "../domain/id.ts";
import type { SyncFileData } from "../store/sqlite/write/group-sync.ts";
import type { BridgeFile } from "./owner/bridge-file.ts";
import type { ConfigFingerprint, SelectedConfig } from "../config/selected-config.ts";
import type { RetentionOptions } from "./apply-retention.ts";

export interface BridgeOptions {
  /** Where the sessions are. */
  readonly directory: string;
  readonly version: string;
  readonly clock: SteadyClock;
  /** Starts the agents, in the process that runs the sessions and nowhere else. */
  readonly agents: () => Promise<StartedAgents>;
  /** Where the agents would come from; absent for agents of no configuration. */
  readonly config?: SelectedConfig;
  /** Something that people should know before they begin. */
  readonly notice?: (line: string) => void;
  /**
   * The user's own: the keys are there that receipts are signed with, and which directories are theirs. Without it
   * receipts are not signed, and the directory is anybody's.
   */
  readonly keysDirectory?: string;
  /** How commits are brought to the disk. */
  readonly datasync?: SyncFileData;
  /** How long the pieces of a text are gathered; 0 keeps each as it came. */
  readonly coalesceMs?: number;
  /** What ids are made of, in place of chance. */
  readonly seed?: Seed;
  /** Applied by the process that runs the sessions; everything is kept without it. */
  readonly retention?: RetentionOptions;
  /** Aborted when this process is to end: what it is just opening is given up. */
  readonly signal?: AbortSignal;
  /** Told when another process has the directory and does not answer. */
  readonly onWaiting?: (owner: BridgeFile | undefined) => void;
  /** Something went wrong that no caller will hear of. */
  readonly report: (error: unknown) => void;
}

export interface StartedAgents {
  readonly agents: readonly Agent[];
  /** Where they come from, as it was read; absent for agents of no configuration. */
  readonly config?: ConfigFingerprint;
  readonly close: () => Promise<void>;
}
