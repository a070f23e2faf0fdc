import type { SteadyClock } from "../../platform/clock.ts";
import type { Environment } from "../../platform/environment.ts";
import type { Provider } from "../../providers/provider.ts";
import type { Tool } from "../../tools/tool.ts";

/** The context for starting the agents of a configuration. */
export interface ConfigContext {
  /** The configuration file. */
  readonly file: string;
  /** The data directory of the sessions. */
  readonly directory: string;
  /** Protected paths in addition to the configuration and the data directory. */
  readonly protectedFolders: readonly string[];
  /** True for a single run, whose session is never resumed. The demo emulator then works in memory. */
  readonly isSingleRun?: boolean;
  readonly clock: SteadyClock;
  readonly environment: Environment;
  /** Receives a warning for people, printed before the start. */
  readonly notice: (line: string) => void;
  /**
   * Receives the warning about unconfined commands. A caller may delay the warning until a command runs. Default:
   * `notice`.
   */
  readonly commandNotice?: (line: string) => void;
}

/** A provider, with a function that ends the servers started for this provider. */
export interface StartedProvider {
  readonly provider: Provider;
  /** Tools for agents without any tools of their own. */
  readonly tools?: readonly Tool[];
  readonly close: () => Promise<void>;
}
