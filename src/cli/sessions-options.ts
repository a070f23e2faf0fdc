import { InvalidArgumentError, Option, type Command } from "commander";
import { positive } from "./number-option.ts";
import type { AnswerFlags } from "./sessions-answer.ts";
import type { AuditFlags } from "./sessions-audit.ts";
import type { CheckFlags } from "./sessions-check.ts";
import type { DeleteFlags } from "./sessions-delete.ts";
import type { ExportFlags } from "./sessions-export.ts";
import type { ListFlags } from "./sessions-list.ts";
import type { ShowFlags } from "./sessions-show.ts";
import type { TailFlags } from "./sessions-tail.ts";

type Done = (exitCode: number) => void;

/** `spanline sessions`. */
export function addSessions(spanline: Command, done: Done): void {
  const sessions = spanline
    .command("sessions")
    .description(
      "look at, follow, answer, audit, check, export and delete the sessions of a data directory",
    )
    .addHelpText("after", EXAMPLES);
  addList(sessions, done);
  addShow(sessions, done);
  addTail(sessions, done);
  addAnswer(sessions, done);
  addExport(sessions, done);
  addAudit(sessions, done);
  addCheck(sessions, done);
  addDelete(sessions, done);
}

function addList(sessions: Command, done: Done): void {
  withDirectory(sessions.command("list"))
    .description("list sessions, the newest first")
    .option("-s, --search <words>", "only those with all of these words in title, id or texts")
    .option("--agent <name>", "only those with this agent")
    .option("-l, --limit <number>", "how many", positive, 20)
    .option("--page <page>", "go on where the list before ended")
    .option("--json", "as JSON, with the name of the next page")
    .action(async (flags: ListFlags) => {
      const { listCommand } = await import("./sessions-list.ts");
      done(await listCommand(flags));
    });
}

function addShow(sessions: Command, done: Done): void {
  withDirectory(sessions.command("show"))
    .description("show what was said and done in a session")
    .argument("<session>", SESSION)
    .option("--events", "every event of its log, a line each")
    .addOption(new Option("--json", "the session and its log as JSON").conflicts("events"))
    .action(async (session: string, flags: ShowFlags) => {
      const { showCommand } = await import("./sessions-show.ts");
      done(await showCommand(session, flags));
    });
}

function addTail(sessions: Command, done: Done): void {
  withDirectory(sessions.command("tail"))
    .description("follow a session as it goes on, until Ctrl-C")
    .argument("<session>", SESSION)
    .option("--from <seq>", "begin behind this event of its log; 0 for all of it", seq)
    .option("--events", "every event of its log, a line each")
    .addOption(new Option("--json", "every event as a line of JSON").conflicts("events"))
    .action(async (session: string, flags: TailFlags) => {
      const { tailCommand } = await import("./sessions-tail.ts");
      done(await tailCommand(session, flags));
    });
}

function addAnswer(sessions: Command, done: Done): void {
  withDirectory(sessions.command("answer"))
    .description("answer a question that a session waits with; without an answer, ask or list")
    .argument("<session>", SESSION)
    .argument("[question]", "its id; not needed where one is open")
    .option("--allow", "let it run, this once")
    .addOption(new Option("--deny", "let it not run").conflicts(["allow", "always", "answer"]))
    .addOption(
      new Option("--always", "let it run, and what is like it in this session").conflicts([
        "allow",
        "answer",
      ]),
    )
    .addOption(new Option("--answer <word>", "any answer that it takes").conflicts("allow"))
    .action(async (session: string, question: string | undefined, flags: AnswerFlags) => {
      const { answerCommand } = await import("./sessions-answer.ts");
      done(await answerCommand(session, question, flags));
    });
}

function addExport(sessions: Command, done: Done): void {
  withDirectory(sessions.command("export"))
    .description("write the log of a session, every event as a line of JSON")
    .argument("<session>", SESSION)
    .option("-o, --output <file>", "where to; - for standard output", "-")
    .action(async (session: string, flags: ExportFlags) => {
      const { exportCommand } = await import("./sessions-export.ts");
      done(await exportCommand(session, flags));
    });
}

function addAudit(sessions: Command, done: Done): void {
  withDirectory(sessions.command("audit"))
    .description("list who let what run in a session, and check that nobody changed it since")
    .argument("<session>", SESSION)
    .option("--json", "as JSON, every receipt in full")
    .action(async (session: string, flags: AuditFlags) => {
      const { auditCommand } = await import("./sessions-audit.ts");
      done(await auditCommand(session, flags));
    });
}

function addCheck(sessions: Command, done: Done): void {
  withDirectory(sessions.command("check"))
    .description("examine every session of a data directory for damaged or missing events")
    .option("--json", "as JSON, with the number of sessions and events")
    .action(async (flags: CheckFlags) => {
      const { checkCommand } = await import("./sessions-check.ts");
      done(await checkCommand(flags));
    });
}

function addDelete(sessions: Command, done: Done): void {
  withDirectory(sessions.command("delete"))
    .description("delete a session and its log for ever; a turn that runs in it is ended")
    .argument("<session>", SESSION)
    .option("-y, --yes", "do not ask")
    .action(async (session: string, flags: DeleteFlags) => {
      const { deleteCommand } = await import("./sessions-delete.ts");
      done(await deleteCommand(session, flags));
    });
}

const SESSION = 'its id, or "latest"';

function withDirectory(command: Command): Command {
  return command.option("-d, --data-dir <folder>", "where sessions are kept");
}

function seq(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0 && text.trim() !== "") return number;
  throw new InvalidArgumentError("It has to be a whole number from 0 on.");
}

const EXAMPLES = `
Examples:
  spanline sessions list --search "refund 7"
  spanline sessions show latest
  spanline sessions tail latest --from 0
  spanline sessions answer latest
  spanline sessions answer latest appr_… --deny
  spanline sessions audit latest
  spanline sessions check
  spanline sessions export ses_… --output session.jsonl
  spanline sessions delete ses_… --yes

Everything but answer and delete only reads, beside whatever process runs the sessions. These two go through that process.
Sessions are kept in --data-dir, else SPANLINE_DATA_DIR, else the nearest .spanline upwards
that is yours (named once with --data-dir), else your state directory.

Exit codes: 0 done (tail: stopped by Ctrl-C), 1 something failed, you said no, a log cannot be read whole,
or a receipt is not proven to be as it was written, 2 there is no such session or the command
line cannot be used.`;
