import type { SteadyClock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";

/** What starting the agents of a configuration needs to know. */
export interface ConfigSurroundings {
  /** The configuration. */
  readonly file: string;
  /** Where the sessions are. */
  readonly directory: string;
  /** Folders that no tool may touch, beside the configuration and the data directory. */
  readonly protectedFolders: readonly string[];
  readonly clock: SteadyClock;
  readonly environment: Environment;
  /** Something that people should know before they begin. */
  readonly notice: (line: string) => void;
}
