import type { SteadyClock } from "../platform/clock.ts";
import type { Agent } from "../session/agent.ts";
import type { Datasync } from "../store/sqlite/wal-file.ts";
import type { BridgeFile } from "./bridge-file.ts";
import type { UsedConfig } from "./config/used-config.ts";
import type { RetentionOptions } from "./keep-retention.ts";

export interface BridgeOptions {
  /** Where the sessions are. */
  readonly directory: string;
  readonly version: string;
  readonly clock: SteadyClock;
  /** Starts the agents, in the process that runs the sessions and nowhere else. */
  readonly agents: () => Promise<StartedAgents>;
  /** Where the agents come from; absent for agents of no configuration. */
  readonly config?: UsedConfig;
  /** Something that people should know before they begin. */
  readonly notice?: (line: string) => void;
  /** Where the keys are that receipts are signed with; without it they are not signed. */
  readonly keysDirectory?: string;
  /** How commits are brought to the disk. */
  readonly datasync?: Datasync;
  /** Applied by the process that runs the sessions; everything is kept without it. */
  readonly retention?: RetentionOptions;
  /** Aborted when this process is to end: what it is just opening is given up. */
  readonly signal?: AbortSignal;
  /** Told when another process has the directory and does not answer. */
  readonly waiting?: (owner: BridgeFile | undefined) => void;
  /** Something went wrong that no caller will hear of. */
  readonly report: (error: unknown) => void;
}

export interface StartedAgents {
  readonly agents: readonly Agent[];
  readonly close: () => Promise<void>;
}
