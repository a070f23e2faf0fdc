import { deleteSession } from "../../bridge/owner/delete-session.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { confirm } from "../shared/terminal/confirm.ts";
import { INTERRUPTED, watchInterruption } from "../shared/interruption.ts";
import { findSession, withSessionsContext, type SessionsFlags } from "./sessions-context.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";

export interface DeleteFlags extends SessionsFlags {
  readonly yes?: true;
}

export async function runSessionsDelete(
  reference: string,
  flags: DeleteFlags,
  io: CommandIo,
): Promise<number> {
  return withSessionsContext(flags, io, async (run) => {
    const { terminal, directory } = run;
    const { sessionId, title, state } = await findSession(reference, run);
    const busy = state === "idle" ? "" : ` A turn is ${state} in it.`;
    const name = toSingleLine(title === null ? sessionId : `${sessionId} (${title})`);
    const question = `Delete ${name} and its log permanently?${busy}`;
    const answer = flags.yes === true || (await confirmDelete(question, io));
    if (answer === "interrupted") return INTERRUPTED;
    if (answer !== true) {
      const unattendedText = `${question} No terminal is available for confirmation. Fix: add --yes.\n`;
      terminal.note(answer === null ? unattendedText : "Nothing was deleted.\n");
      return answer === null ? 2 : 1;
    }
    const isDeleted = await deleteSession(sessionId, {
      directory,
      version: readPackageVersion(),
      clock: systemClock,
      onWaiting(owner) {
        const ownerName = owner === undefined ? "Another process" : `Process ${owner.pid}`;
        terminal.note(`${ownerName} owns ${directory} and does not respond. Waiting for it.\n`);
      },
    });
    terminal.note(`${name} ${isDeleted ? "is deleted" : "was already deleted"}.\n`);
    return 0;
  });
}

/** Nothing has started yet, so Ctrl-C needs no cleanup. */
async function confirmDelete(
  question: string,
  io: CommandIo,
): Promise<boolean | null | "interrupted"> {
  const { signal, release } = watchInterruption(io, () => io.stderr.write("\n"));
  try {
    return await confirm(question, { io, signal });
  } catch (error) {
    if (signal.aborted) return "interrupted";
    throw error;
  } finally {
    release();
  }
}
