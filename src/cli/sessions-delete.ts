import { deleteSession } from "../bridge/delete-session.ts";
import { oneLine } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { packageVersion } from "../platform/package-version.ts";
import { askWhether } from "./ask.ts";
import { INTERRUPTED, interruption } from "./interruption.ts";
import { findSession, runSessions, type SessionsFlags } from "./sessions-run.ts";

export interface DeleteFlags extends SessionsFlags {
  readonly yes?: true;
}

export async function deleteCommand(reference: string, flags: DeleteFlags): Promise<number> {
  return runSessions(flags, async (run) => {
    const { terminal, directory } = run;
    const { sessionId, title, state } = await findSession(reference, run);
    const busy = state === "idle" ? "" : ` A turn is ${state} in it.`;
    const name = oneLine(title === null ? sessionId : `${sessionId} (${title})`);
    const question = `Delete ${name} and its log for ever?${busy}`;
    const answer = flags.yes === true || (await askedFirst(question));
    if (answer === "interrupted") return INTERRUPTED;
    if (answer !== true) {
      const nobody = `${question} There is nobody to ask; add --yes to do it.\n`;
      terminal.note(answer === null ? nobody : "Nothing was deleted.\n");
      return answer === null ? 2 : 1;
    }
    const isDeleted = await deleteSession(sessionId, {
      directory,
      version: packageVersion(),
      clock: systemClock,
      waiting(owner) {
        const who = owner === undefined ? "Another process" : `Process ${owner.pid}`;
        terminal.note(`${who} has ${directory} and does not answer. Waiting for it.\n`);
      },
    });
    terminal.note(`${name} ${isDeleted ? "is deleted" : "was gone already"}.\n`);
    return 0;
  });
}

/** Nothing was begun yet: Ctrl-C only has to be said. */
async function askedFirst(question: string): Promise<boolean | null | "interrupted"> {
  const { signal, release } = interruption(() => process.stderr.write("\n"));
  try {
    return await askWhether(question, { signal });
  } catch (error) {
    if (signal.aborted) return "interrupted";
    throw error;
  } finally {
    release();
  }
}
