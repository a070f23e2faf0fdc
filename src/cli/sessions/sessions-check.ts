import { pluralize } from "../../text/pluralize.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { withSessionsContext, type SessionsFlags } from "./sessions-context.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface CheckFlags extends SessionsFlags {
  readonly json?: true;
}

/** Checks the database of a data directory and the log of every session. Returns 1 if there are problems. */
export async function runSessionsCheck(flags: CheckFlags, io: CommandIo): Promise<number> {
  return withSessionsContext(flags, io, async ({ sessions, terminal, directory }) => {
    const problems = await sessions.checkIntegrity();
    const size = await sessions.measureSize();
    if (flags.json === true)
      await terminal.write(`${formatPrettyJson({ directory, ...size, problems })}\n`);
    else {
      for (const problem of problems) await terminal.write(`${toSingleLine(problem)}\n`);
      const result = problems.length === 0 ? "no problems" : pluralize(problems.length, "problem");
      const { sessions: some, events } = size;
      terminal.note(
        `${pluralize(some, "session")} with ${pluralize(events, "event")} in ${directory}: ${result} found\n`,
      );
    }
    return problems.length === 0 ? 0 : 1;
  });
}
