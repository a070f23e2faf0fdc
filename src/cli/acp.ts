import { demoAgents } from "../bridge/demo-agents.ts";
import { runAcp } from "../bridge/run-acp.ts";
import { thrownMessage } from "../domain/errors.ts";
import { systemClock } from "../platform/clock.ts";
import { packageVersion } from "../platform/package-version.ts";
import { dataDirectory } from "./data-directory.ts";
import { stopped } from "./stopped.ts";

export interface AcpFlags {
  readonly session?: string;
  readonly dataDir?: string;
}

/** Serves the editor that started this process, until it closes our input; returns the exit code. */
export async function acpCommand({ session, dataDir }: AcpFlags): Promise<number> {
  // Standard output is the protocol's alone.
  const log = (message: string, facts: object = {}): void => {
    process.stderr.write(`${JSON.stringify({ message, ...facts })}\n`);
  };
  let directory: string;
  try {
    directory = dataDirectory(dataDir);
  } catch (error) {
    log(thrownMessage(error));
    return 2;
  }
  const end = new AbortController();
  void stopped().then(() => end.abort());
  await runAcp({
    directory,
    version: packageVersion(),
    clock: systemClock,
    agents: () => demoAgents(directory, systemClock),
    input: process.stdin,
    output: process.stdout,
    signal: end.signal,
    log,
    report: (error) => log("something went wrong", { error: String(error) }),
    waiting: (owner) =>
      log("the process that has the sessions does not answer; waiting for it", {
        directory,
        ...(owner !== undefined && { pid: owner.pid }),
      }),
    ...(session !== undefined && { session }),
  });
  return 0;
}
