import { basename } from "node:path";
import { runUp, type Up } from "../bridge/run-up.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { oneLine, printable } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { lingering } from "../platform/lingering.ts";
import { packageVersion } from "../platform/package-version.ts";
import { userDirectory } from "../platform/state-directory.ts";
import { processTerminal } from "../platform/terminal.ts";
import { agentsFrom, usedConfig, type ConfigFlags } from "./agents-from.ts";
import { dataDirectory } from "./data-directory.ts";
import { INTERRUPTED } from "./interruption.ts";
import { stopped } from "./stopped.ts";
import { notKeptHere, retentionFrom, type KeepFlags } from "./up-retention.ts";

export interface UpFlags extends KeepFlags, ConfigFlags {
  readonly port: number;
  readonly dataDir?: string;
  readonly json?: true;
  readonly newToken?: true;
}

const HOST = "127.0.0.1";
/** Longer than stopping takes when everything ends that is told to. */
const LONG_MS = 1000;

/** Runs the bridge until it is told to stop; returns the exit code. */
export async function upCommand(flags: UpFlags): Promise<number> {
  const terminal = processTerminal();
  const stop = new AbortController();
  const end = stopped().then(() => stop.abort());
  const report = (error: unknown): void => terminal.note(`${printable(String(error))}\n`);
  const notice = (line: string): void => terminal.note(`${oneLine(line)}\n`);
  let directory = "";
  let up: Up;
  try {
    directory = dataDirectory(flags.dataDir);
    up = await runUp({
      signal: stop.signal,
      directory,
      keysDirectory: userDirectory(process.env),
      host: HOST,
      port: flags.port,
      newToken: flags.newToken === true,
      version: packageVersion(),
      clock: systemClock,
      agents: agentsFrom(flags, { directory, report, notice }),
      ...usedConfig(flags),
      notice,
      report,
      ...retentionFrom(flags, (line) => terminal.note(line)),
      waiting: (owner) => terminal.note(waitingFor(owner?.pid, directory)),
    });
  } catch (error) {
    if (stop.signal.aborted) return INTERRUPTED;
    terminal.note(`${complaint(error, flags)}\n`);
    return error instanceof SpanlineError ? 2 : 1;
  }
  if (!up.isOwner) terminal.note(notKeptHere(flags, up.ownerPid));
  await terminal.write(flags.json === true ? asJson(up, directory) : asText(up, directory, flags));
  await end;
  terminal.note(`\nStopping. Sessions are kept in ${directory}.\n`);
  lingering(LONG_MS, () => {
    terminal.note("Something does not end yet. Ctrl-C again ends it at once.\n");
  });
  await up.close();
  // A tool that does not hear that it is to stop would keep the process.
  lingering(LONG_MS, () => process.exit(0));
  return 0;
}

function asText(up: Up, directory: string, { dataDir }: UpFlags): string {
  const { url, link, session, isOwner, ownerPid, config } = up;
  const isDemo = config === undefined;
  const where = dataDir === undefined ? "" : ` --data-dir ${directory}`;
  const begun = isOwner ? "Spanline is up" : `Joined the bridge that runs in process ${ownerPid}`;
  const told = [
    ...(isDemo ? ["Saving a note asks for your approval, in the browser or the editor."] : []),
    ...(isOwner ? ["Kill this process while it works and start it again: the turn goes on."] : []),
    `Sessions are kept in ${directory}.`,
  ];
  return `${begun}. One session, three ways into it:

  In a browser    ${link}
  With curl       curl -N ${url}/api/sessions/${session.sessionId}/prompt \\
                    -H 'content-type: application/json' -H 'accept: text/plain' \\
                    -d '{"text":"${isDemo ? "Please save a note: buy milk" : "Hello"}","wait":true}'
  In an editor    ${ownCommand()} acp --session latest${where}
${agentsText(up)}
${told.join("\n")}

Ctrl-C stops it.
`;
}

/** Empty for the demo agent, of which there is nothing to say. */
function agentsText({ config, agents, session }: Up): string {
  if (config === undefined) return "";
  const others = agents.filter((name) => name !== session.agent);
  const more = others.length === 0 ? "" : `; there is also ${others.join(", ")}`;
  return `\nIt is with ${session.agent}${more}. Agents come from ${oneLine(config)}.\n`;
}

/** This program as an editor has to start it: by its name only where that is how it was started. */
function ownCommand(): string {
  const [, program = "spanline"] = process.argv;
  return basename(program) === "spanline" ? "spanline" : `node ${program}`;
}

function asJson({ session, ...up }: Up, directory: string): string {
  const { sessionId } = session;
  const { url, link, isOwner, ownerPid, config = null, agents } = up;
  const facts = { url, link, sessionId, isOwner, ownerPid, directory, config, agents };
  return `${JSON.stringify(facts)}\n`;
}

function waitingFor(pid: number | undefined, directory: string): string {
  const who = pid === undefined ? "Another process" : `Process ${pid}`;
  return `${who} has ${directory} and does not answer. Waiting; end it, or choose another --data-dir.\n`;
}

function complaint(error: unknown, { port }: UpFlags): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `Port ${port} is taken on ${HOST}; choose another with --port, or 0 for any`;
  }
  return oneLine(thrownMessage(error));
}
