import type { SteadyClock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Tool } from "../../tools/tool.ts";

/** What starting the agents of a configuration needs to know. */
export interface ConfigContext {
  /** The configuration. */
  readonly file: string;
  /** Where the sessions are. */
  readonly directory: string;
  /** Folders that no tool may touch, beside the configuration and the data directory. */
  readonly protectedFolders: readonly string[];
  /** For one run, which no other takes up: what is started for it keeps nothing. */
  readonly isSingleRun?: boolean;
  readonly clock: SteadyClock;
  readonly environment: Environment;
  /** Something that people should know before they begin. */
  readonly notice: (line: string) => void;
  /** The same about commands, for whoever says it when one is really called. */
  readonly commandNotice?: (line: string) => void;
}

/** A provider, and what runs for it on this machine. */
export interface StartedProvider {
  readonly provider: Provider;
  /** For its agents that have none of their own. */
  readonly tools?: readonly Tool[];
  readonly close: () => Promise<void>;
}
