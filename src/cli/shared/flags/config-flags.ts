import { resolve } from "node:path";
import type { StartedAgents } from "../../../bridge/bridge-options.ts";
import { findConfig } from "../../../config/find-config.ts";
import type { SelectedConfig } from "../../../config/selected-config.ts";
import { systemClock } from "../../../platform/clock.ts";
import { readPackageVersion } from "../../../platform/package-version.ts";
import { resolveUserDirectory } from "../../../platform/files/state-directory.ts";
import type { CommandIo } from "../../../platform/process/command-io.ts";

export interface ConfigFlags {
  readonly config?: string;
}

export interface AgentsContext {
  readonly io: CommandIo;
  /** The data directory of the sessions. */
  readonly directory: string;
  readonly isSingleRun?: boolean;
  readonly report: (error: unknown) => void;
  readonly notice: (line: string) => void;
  /**
   * Receives the warning about unconfined commands. A caller may delay the warning until a command runs. Default:
   * `notice`.
   */
  readonly commandNotice?: (line: string) => void;
}

/** Returns the configuration file: `--config`, or the nearest file upwards. Undefined if neither exists. */
export function resolveConfigFile(
  { config }: ConfigFlags,
  { cwd }: Pick<CommandIo, "cwd">,
): string | undefined {
  return config === undefined ? findConfig(cwd) : resolve(cwd, config);
}

/** Returns the same file with the fact whether `--config` named it, for owners and joined processes. */
export function selectConfig(
  flags: ConfigFlags,
  io: CommandIo,
): { readonly config?: SelectedConfig } {
  const file = resolveConfigFile(flags, io);
  return file === undefined ? {} : { config: { file, isExplicit: flags.config !== undefined } };
}

/** Starts the agents of the configuration, or the demo agent without a configuration. */
export function createAgentsStarter(
  flags: ConfigFlags,
  { io, directory, isSingleRun = false, report, notice, commandNotice = notice }: AgentsContext,
): () => Promise<StartedAgents> {
  return async () => {
    const file = resolveConfigFile(flags, io);
    if (file === undefined) {
      const { startDemoAgents } = await import("../../../bridge/agent/start-demo-agents.ts");
      return startDemoAgents(directory, systemClock, isSingleRun);
    }
    // Modules for configurations are loaded only if a configuration exists.
    const { startConfiguredAgents } =
      await import("../../../bridge/configured/configured-agents.ts");
    return startConfiguredAgents({
      file,
      directory,
      isSingleRun,
      protectedFolders: [resolveUserDirectory(io.env)],
      clock: systemClock,
      version: readPackageVersion(),
      environment: io.env,
      report,
      notice,
      commandNotice,
      isTrusted: createTrustCheck(file, flags, io),
    });
  };
}

/** A configuration named with `--config` is trusted without asking. */
export function createTrustCheck(
  file: string,
  flags: ConfigFlags,
  { env }: Pick<CommandIo, "env">,
): (digest: string) => Promise<boolean> {
  return async (digest) => {
    if (flags.config !== undefined) return true;
    const { isTrusted } = await import("../../../config/trust/trusted-configs.ts");
    return isTrusted({ file, digest }, resolveUserDirectory(env));
  };
}
