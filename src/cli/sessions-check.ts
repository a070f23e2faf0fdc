import { counted } from "../domain/counted.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import { oneLine } from "../inspect/style.ts";
import { runSessions, type SessionsFlags } from "./sessions-run.ts";

export interface CheckFlags extends SessionsFlags {
  readonly json?: true;
}

/** Examines the database of a data directory and the log of every session in it; 1 if anything is wrong. */
export async function checkCommand(flags: CheckFlags): Promise<number> {
  return runSessions(flags, async ({ sessions, terminal, directory }) => {
    const problems = await sessions.check();
    const size = await sessions.size();
    if (flags.json === true)
      await terminal.write(`${prettyJson({ directory, ...size, problems })}\n`);
    else {
      for (const problem of problems) await terminal.write(`${oneLine(problem)}\n`);
      const found = problems.length === 0 ? "no problems" : counted(problems.length, "problem");
      const { sessions: some, events } = size;
      terminal.note(
        `${counted(some, "session")} with ${counted(events, "event")} in ${directory}: ${found} found\n`,
      );
    }
    return problems.length === 0 ? 0 : 1;
  });
}
