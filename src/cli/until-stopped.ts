import { placeOf, type ServeOptions } from "../bridge/serve/serve-bridge.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { lingering } from "../platform/lingering.ts";
import { packageVersion } from "../platform/package-version.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { processTerminal } from "../platform/terminal.ts";
import { agentsFrom, usedConfig } from "./agents-from.ts";
import { dataDirectory } from "./data-directory.ts";
import { INTERRUPTED } from "./interruption.ts";
import { reported } from "./reported.ts";
import { notKeptHere, retentionFrom, type KeepFlags } from "./retention-from.ts";
import { servingFrom, type ServingFlags, type ServingPlace } from "./serving-from.ts";
import { stopped } from "./stopped.ts";

export interface BridgeFlags extends ServingFlags, KeepFlags {
  readonly dataDir?: string;
}

/** Something that runs until it is told to stop. */
export interface Running {
  readonly isOwner: boolean;
  readonly ownerPid: number;
  readonly close: () => Promise<void>;
}

export interface Starting<Started extends Running> {
  readonly start: (options: ServeOptions) => Promise<Started>;
  /** What is said on standard output when it runs. */
  readonly said: (started: Started, directory: string) => string;
}

/** Longer than stopping takes when everything ends that is told to. */
const LONG_MS = 3000;

/** Runs the bridge until it is told to stop; returns the exit code. */
export async function untilStopped<Started extends Running>(
  flags: BridgeFlags,
  { start, said }: Starting<Started>,
): Promise<number> {
  const terminal = processTerminal();
  const stop = new AbortController();
  const end = stopped().then(() => stop.abort());
  const report = (error: unknown): void => terminal.note(reported(error));
  const notice = (line: string): void => terminal.note(`${oneLine(line)}\n`);
  let directory = "";
  let place: ServingPlace = {};
  let started: Started;
  try {
    directory = dataDirectory(flags.dataDir, notice);
    place = await servingFrom(flags, (line) => terminal.note(line));
    started = await start({
      signal: stop.signal,
      directory,
      keysDirectory: userDirectory(process.env),
      ...place,
      version: packageVersion(),
      clock: systemClock,
      agents: agentsFrom(flags, { directory, report, notice }),
      ...usedConfig(flags),
      ...retentionFrom(flags, (line) => terminal.note(line)),
      notice,
      report,
      waiting: (owner) => terminal.note(waitingFor(owner?.pid, directory)),
    });
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    terminal.note(`${complaint(error, place)}\n`);
    return error instanceof SpanlineError ? 2 : 1;
  }
  if (!started.isOwner) terminal.note(notKeptHere(flags, started.ownerPid));
  await terminal.write(said(started, directory));
  await end;
  terminal.note(`\nStopping. Sessions are kept in ${directory}.\n`);
  lingering(LONG_MS, () => {
    terminal.note("Something does not end yet. Ctrl-C again ends it at once.\n");
  });
  await started.close();
  // A tool that does not hear that it is to stop would keep the process.
  lingering(LONG_MS, () => process.exit(0));
  return 0;
}

function waitingFor(pid: number | undefined, directory: string): string {
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return `${who} has ${directory} and does not answer. Waiting; end it, or choose another --data-dir.\n`;
}

function complaint(error: unknown, place: ServingPlace): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const { host, port } = placeOf(place);
  if (code === "EADDRINUSE") {
    return `Port ${port} is taken on ${host}; choose another with --port, or 0 for any`;
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    return `${oneLine(host)} is no address of this machine; choose another with --host`;
  }
  return oneLine(thrownMessage(error));
}
