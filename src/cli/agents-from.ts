import { resolve } from "node:path";
import type { StartedAgents } from "../bridge/bridge-options.ts";
import { findConfig } from "../bridge/config/find-config.ts";
import type { UsedConfig } from "../bridge/config/used-config.ts";
import { systemClock } from "../platform/clock.ts";
import { packageVersion } from "../platform/package-version.ts";
import { userDirectory } from "../platform/state-directory.ts";

export interface ConfigFlags {
  readonly config?: string;
}

export interface AgentsPlace {
  /** Where the sessions are. */
  readonly directory: string;
  readonly isForOneRun?: boolean;
  readonly report: (error: unknown) => void;
  readonly notice: (line: string) => void;
  /** The same about commands, for whoever says it when one is really called. */
  readonly commandNotice?: (line: string) => void;
}

/** The configuration that the flags mean; undefined where there is none. */
export function configFrom({ config }: ConfigFlags): string | undefined {
  return config === undefined ? findConfig(process.cwd()) : resolve(config);
}

/** The same, for those who run the sessions and those who join them. */
export function usedConfig(flags: ConfigFlags): { readonly config?: UsedConfig } {
  const file = configFrom(flags);
  return file === undefined ? {} : { config: { file, isNamed: flags.config !== undefined } };
}

/** Starts the agents of the configuration, or the demo agent where there is none. */
export function agentsFrom(
  flags: ConfigFlags,
  { directory, isForOneRun = false, report, notice, commandNotice = notice }: AgentsPlace,
): () => Promise<StartedAgents> {
  return async () => {
    const file = configFrom(flags);
    if (file === undefined) {
      const { demoAgents } = await import("../bridge/demo-agents.ts");
      return demoAgents(directory, systemClock);
    }
    // What only a configuration needs is not loaded without one.
    const { configuredAgents } = await import("../bridge/config/configured-agents.ts");
    return configuredAgents({
      file,
      directory,
      isForOneRun,
      protectedFolders: [userDirectory(process.env)],
      clock: systemClock,
      version: packageVersion(),
      environment: process.env,
      report,
      notice,
      commandNotice,
      isTrusted: trustIn(file, flags),
    });
  };
}

/** Whoever names a configuration means it. */
export function trustIn(file: string, flags: ConfigFlags): (digest: string) => Promise<boolean> {
  return async (digest) => {
    if (flags.config !== undefined) return true;
    const { isTrusted } = await import("../bridge/config/trusted-configs.ts");
    return isTrusted({ file, digest }, userDirectory(process.env));
  };
}
