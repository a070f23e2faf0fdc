import { resolveListenAddress, type ServeOptions } from "../../bridge/serve/serve-bridge.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { createBoundedFetch } from "../../platform/bounded-fetch.ts";
import { startExitWatchdog } from "../../platform/process/exit-watchdog.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { resolveUserDirectory } from "../../platform/files/state-directory.ts";
import { createTerminal } from "../../platform/terminal/terminal.ts";
import { createAgentsStarter, selectConfig } from "../shared/flags/config-flags.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { INTERRUPTED } from "../shared/interruption.ts";
import { formatErrorChain } from "../shared/error-chain.ts";
import { formatRetentionIgnored, readRetention, type RetentionFlags } from "./read-retention.ts";
import { readServing, type ServingFlags, type ServingOptions } from "./read-serving.ts";
import { waitForSignal } from "../shared/wait-for-signal.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface BridgeFlags extends ServingFlags, RetentionFlags {
  readonly dataDir?: string;
}

/** A started bridge. */
export interface RunningBridge {
  readonly isOwner: boolean;
  readonly ownerPid: number;
  /** Defined if another process already serves on the port: this process then only prints where, and exits. */
  readonly portalPid: number | undefined;
  readonly close: () => Promise<void>;
}

export interface BridgeStarter<Started extends RunningBridge> {
  readonly io: CommandIo;
  readonly start: (options: ServeOptions) => Promise<Started>;
  /** Formats the text for standard output after the start. */
  readonly formatStarted: (started: Started, directory: string) => string;
}

/** Milliseconds. Longer than a regular stop takes. */
const EXIT_TIMEOUT_MS = 3000;

/** Runs the bridge until SIGINT or SIGTERM. Returns the exit code. */
export async function runUntilSignal<Started extends RunningBridge>(
  flags: BridgeFlags,
  { io, start, formatStarted }: BridgeStarter<Started>,
): Promise<number> {
  const terminal = createTerminal(io);
  const stop = new AbortController();
  const end = waitForSignal(io).then(() => stop.abort());
  const report = (error: unknown): void => terminal.note(formatErrorChain(error));
  const notice = (line: string): void => terminal.note(`${toSingleLine(line)}\n`);
  let directory = "";
  let serving: ServingOptions = {};
  let started: Started;
  try {
    directory = resolveDataDirectory(flags.dataDir, io, notice);
    serving = await readServing(flags, io, (line) => terminal.note(line));
    started = await start({
      signal: stop.signal,
      directory,
      keysDirectory: resolveUserDirectory(io.env),
      ...serving,
      version: readPackageVersion(),
      clock: systemClock,
      agents: createAgentsStarter(flags, { io, directory, report, notice }),
      ...selectConfig(flags, io),
      ...readRetention(flags, (line) => terminal.note(line)),
      notice,
      report,
      onWaiting: (owner) => terminal.note(formatWaiting(owner?.pid, directory)),
    });
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    terminal.note(`${await describeStartError(error, serving, io)}\n`);
    return error instanceof SpanlineError ? 2 : 1;
  }
  if (!started.isOwner) terminal.note(formatRetentionIgnored(flags, started.ownerPid));
  await terminal.write(formatStarted(started, directory));
  if (started.portalPid !== undefined) {
    await started.close();
    return 0;
  }
  await end;
  terminal.note(`\nStopping. Sessions are kept in ${directory}.\n`);
  startExitWatchdog(EXIT_TIMEOUT_MS, () => {
    terminal.note(
      "Still stopping: a tool or a connection has not ended. Press Ctrl-C again to exit now.\n",
    );
  });
  await started.close();
  // A tool that ignores its abort signal would keep the process alive.
  startExitWatchdog(EXIT_TIMEOUT_MS, () => io.exit(0));
  return 0;
}

function formatWaiting(pid: number | undefined, directory: string): string {
  const ownerName = pid === undefined ? "Another process" : `Process ${pid}`;
  return `${ownerName} owns ${directory} and does not respond. Waiting for it. Fix: end that process, or choose another --data-dir.\n`;
}

async function describeStartError(
  error: unknown,
  serving: ServingOptions,
  io: CommandIo,
): Promise<string> {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const { host, port } = resolveListenAddress(serving);
  if (code === "EADDRINUSE") {
    // A Spanline with the same data directory would have been joined.
    const user = (await isSpanline(host, port)) ? " by a Spanline with another data directory" : "";
    // npm passes arguments only after `--`.
    const fix =
      io.env["npm_lifecycle_event"] === "start"
        ? "run `npm start -- --port 0`, which picks a free port"
        : "choose another with --port; 0 picks a free port";
    return `Port ${port} on ${host} is already in use${user}. Fix: ${fix}`;
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return `${toSingleLine(host)} is not an address of this machine. Fix: choose another with --host`;
  }
  return toSingleLine(formatThrown(error));
}

/** Whether the program on a port of this machine serves the portal. False if the program does not respond in time. */
async function isSpanline(host: string, port: number): Promise<boolean> {
  const address = host.includes(":") ? `[${host}]` : host;
  const fetchPage = createBoundedFetch({ maxBytes: MAX_PAGE_BYTES, pace: () => undefined });
  try {
    const signal = AbortSignal.timeout(PROBE_MS);
    const response = await fetchPage(`http://${address}:${port}/`, { signal, redirect: "error" });
    return (await response.text()).includes("<title>Spanline</title>");
  } catch {
    return false;
  }
}

const PROBE_MS = 1000;
const MAX_PAGE_BYTES = 64 * 1024;
