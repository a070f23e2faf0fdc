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

/** Serves the editor that started this process until the editor closes standard input. Returns the exit code. */
export async function runAcpCommand(flags: AcpFlags, io: CommandIo): Promise<number> {
  const { session, dataDir, verbose = false } = flags;
  const output = reserveStdout(io);
  // Editors display standard error, so only problems are written there.
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
      log("the owner of the sessions does not respond; waiting for it", {
        directory,
        ...(owner !== undefined && { pid: owner.pid }),
      }),
    ...omitUndefined({ session }),
    updates: resolveUpdates(flags, io),
  });
  // After a signal, an editor may keep standard input open, which would keep this process alive.
  io.stdin.destroy();
  return 0;
}

/** Reads `acp.updates` of the configuration while the editor initializes. */
function resolveUpdates(flags: AcpFlags, io: CommandIo): Exclude<AcpOptions["updates"], undefined> {
  const file = resolveConfigFile(flags, io);
  if (flags.updates !== undefined || file === undefined) return flags.updates ?? "auto";
  return import("../../config/configured-updates.ts").then((read) =>
    read.readConfiguredUpdates(file),
  );
}

/** Editors use pipes; a terminal on standard input means a person typed the command. */
const TYPED_COMMAND_NOTE =
  "This command speaks the Agent Client Protocol with an editor and waits for messages on standard input. Press Ctrl-C to stop it. For interactive use, run `spanline up` or `spanline run`; `spanline acp --help` explains the editor setup.\n";
