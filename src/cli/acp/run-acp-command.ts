import { runAcp, type AcpOptions } from "../../bridge/serve/run-acp.ts";
import { formatThrown } from "../../domain/errors.ts";
import { systemClock } from "../../platform/clock.ts";
import { reserveStdout } from "../../platform/terminal/reserve-stdout.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import {
  createAgentsStarter,
  resolveConfigFile,
  selectConfig,
  type ConfigFlags,
} from "../shared/flags/config-flags.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { waitForSignal } from "../shared/wait-for-signal.ts";
import type { UpdatesFlags } from "../shared/flags/updates-option.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface AcpFlags extends ConfigFlags, UpdatesFlags {
  readonly session?: string;
  readonly dataDir?: string;
  readonly verbose?: boolean;
}

/** Serves the editor that started this process, until it closes our input; returns the exit code. */
export async function runAcpCommand(flags: AcpFlags, io: CommandIo): Promise<number> {
  const { session, dataDir, verbose = false } = flags;
  const output = reserveStdout(io);
  // Editors show what stands on standard error: nothing does where nothing is wrong.
  const log = (message: string, facts: object = {}): void => {
    io.stderr.write(`${JSON.stringify({ message, ...facts })}\n`);
  };
  const notice = (line: string): void => log(line);
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    if (verbose || name !== "ExperimentalWarning") log(message, { warning: name });
  });
  let directory: string;
  try {
    directory = resolveDataDirectory(dataDir, io, notice);
  } catch (error) {
    log(formatThrown(error));
    return 2;
  }
  if (io.stdin.isTTY === true) io.stderr.write(TYPED_COMMAND_NOTE);
  const end = new AbortController();
  void waitForSignal(io).then(() => end.abort());
  const report = (error: unknown): void => log("something went wrong", { error: String(error) });
  await runAcp({
    directory,
    keysDirectory: resolveUserDirectory(io.env),
    version: readPackageVersion(),
    clock: systemClock,
    agents: createAgentsStarter(flags, { io, directory, report, notice }),
    ...selectConfig(flags, io),
    notice,
    input: io.stdin,
    output,
    signal: end.signal,
    log,
    ...(verbose && { detail: log }),
    report,
    onWaiting: (owner) =>
      log("the process that has the sessions does not answer; waiting for it", {
        directory,
        ...(owner !== undefined && { pid: owner.pid }),
      }),
    ...omitUndefined({ session }),
    updates: updatesFrom(flags, io),
  });
  // Where a signal ended it, an editor that keeps it open would keep the process.
  io.stdin.destroy();
  return 0;
}

/** The configuration is read while the editor initializes. */
function updatesFrom(flags: AcpFlags, io: CommandIo): Exclude<AcpOptions["updates"], undefined> {
  const file = resolveConfigFile(flags, io);
  if (flags.updates !== undefined || file === undefined) return flags.updates ?? "auto";
  return import("../../config/configured-updates.ts").then((read) => read.configuredUpdates(file));
}

/** Editors give it a pipe: whoever sees this typed the command. */
const TYPED_COMMAND_NOTE =
  "This speaks the Agent Client Protocol, for an editor that starts it; it waits for one on standard input. Ctrl-C ends it. `spanline up` and `spanline run` are for people; `spanline acp --help` says how to set up an editor.\n";
