import { deleteSession } from "../../bridge/owner/delete-session.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { readPackageVersion } from "../../platform/package-version.ts";
import { confirm } from "../shared/terminal/confirm.ts";
import { INTERRUPTED, onInterruption } from "../shared/interruption.ts";
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
    const question = `Delete ${name} and its log for ever?${busy}`;
    const answer = flags.yes === true || (await confirmDelete(question, io));
    if (answer === "interrupted") return INTERRUPTED;
    if (answer !== true) {
      const unattendedText = `${question} There is nobody to ask; add --yes to do it.\n`;
      terminal.note(answer === null ? unattendedText : "Nothing was deleted.\n");
      return answer === null ? 2 : 1;
    }
    const isDeleted = await deleteSession(sessionId, {
      directory,
      version: readPackageVersion(),
      clock: systemClock,
      onWaiting(owner) {
        const ownerName = owner === undefined ? "Another process" : `Process ${owner.pid}`;
        terminal.note(`${ownerName} has ${directory} and does not answer. Waiting for it.\n`);
      },
    });
    terminal.note(`${name} ${isDeleted ? "is deleted" : "was gone already"}.\n`);
    return 0;
  });
}

/** Nothing was begun yet: Ctrl-C only has to be said. */
async function confirmDelete(
  question: string,
  io: CommandIo,
): Promise<boolean | null | "interrupted"> {
  const { signal, release } = onInterruption(io, () => io.stderr.write("\n"));
  try {
    return await confirm(question, { io, signal });
  } catch (error) {
    if (signal.aborted) return "interrupted";
    throw error;
  } finally {
    release();
  }
}
