import { resolve } from "node:path";
import { open } from "node:fs/promises";
import { pluralize } from "../../text/pluralize.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Terminal } from "../../platform/terminal/terminal.ts";
import { encodeExamined, reportProblems, openSessionLog } from "./stored-session-log.ts";
import { findSession, withSessionsContext, type SessionsFlags } from "./sessions-context.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface ExportFlags extends SessionsFlags {
  readonly output: string;
}

export async function runSessionsExport(
  reference: string,
  flags: ExportFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { sessions, terminal } = run;
    const { sessionId } = await findSession(reference, run);
    const { write, close } = await openOutput(flags.output, io.cwd, terminal);
    const log = openSessionLog(sessions, sessionId);
    let count = 0;
    try {
      for await (const examined of log.events) {
        const line = JSON.stringify(encodeExamined(sessionId, examined));
        if (!(await write(`${line}\n`))) return reportProblems(log, terminal);
        if (examined.status !== "missing") count += 1;
      }
    } finally {
      await close();
    }
    if (flags.output !== "-")
      terminal.note(`${pluralize(count, "event")} of ${sessionId} in ${flags.output}\n`);
    return reportProblems(log, terminal);
  });
}

interface Output {
  /** Returns false if the reader closed the pipe. */
  readonly write: (text: string) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

async function openOutput(path: string, cwd: string, terminal: Terminal): Promise<Output> {
  if (path === "-") return { write: (text) => terminal.write(text), close: async () => {} };
  // Readable by the owner only, because a session may contain private data.
  const file = await open(resolve(cwd, path), "w", 0o600).catch((cause: unknown) => {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const reason = code === "ENOENT" ? "no such folder" : String(code ?? cause);
    throw new SpanlineError("invalid_option", `Cannot write ${path}: ${reason}`, { cause });
  });
  return {
    async write(text) {
      await file.write(text);
      return true;
    },
    close: () => file.close(),
  };
}
