import type { SteadyClock } from "../platform/clock.ts";
import type { Agent } from "../session/runtime/agent/agent.ts";
import type { Seed } from "../domain/id.ts";
import type { SyncFileData } from "../store/sqlite/write/group-sync.ts";
import type { BridgeFile } from "./owner/bridge-file.ts";
import type { ConfigFingerprint, SelectedConfig } from "../config/selected-config.ts";
import type { RetentionOptions } from "./apply-retention.ts";

export interface BridgeOptions {
  /** The data directory. */
  readonly directory: string;
  readonly version: string;
  readonly clock: SteadyClock;
  /** Starts the agents. Called only in the process that runs the sessions. */
  readonly agents: () => Promise<StartedAgents>;
  /** The configuration selected by this process. Undefined for agents without a configuration. */
  readonly config?: SelectedConfig;
  /** Receives a warning for people, printed before the start. */
  readonly notice?: (line: string) => void;
  /**
   * The user's own directory, with the signing keys and the list of trusted data directories. Undefined: receipts are
   * not signed, and the data directory is not claimed for the user.
   */
  readonly keysDirectory?: string;
  /** Syncs commits to the disk. Replaced in tests. */
  readonly datasync?: SyncFileData;
  /** Milliseconds for which text chunks are coalesced. 0 stores each chunk as received. */
  readonly coalesceMs?: number;
  /** Source of generated ids. Default: random. */
  readonly seed?: Seed;
  /** Applied by the process that runs the sessions. Undefined: all data is kept. */
  readonly retention?: RetentionOptions;
  /** Aborted when this process must end. Pending work of the start is abandoned. */
  readonly signal?: AbortSignal;
  /** Called if another process owns the directory and does not respond. */
  readonly onWaiting?: (owner: BridgeFile | undefined) => void;
  /** Receives errors without a caller, such as failures of background work. */
  readonly report: (error: unknown) => void;
}

export interface StartedAgents {
  readonly agents: readonly Agent[];
  /** The configuration of the agents with its digest. Undefined for agents without a configuration. */
  readonly config?: ConfigFingerprint;
  readonly close: () => Promise<void>;
}
