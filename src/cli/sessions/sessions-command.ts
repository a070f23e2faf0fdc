import { InvalidArgumentError, Option, type Command } from "commander";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { AnswerFlags } from "./sessions-answer.ts";
import type { AuditFlags } from "./sessions-audit.ts";
import type { CheckFlags } from "./sessions-check.ts";
import type { DeleteFlags } from "./sessions-delete.ts";
import type { ExportFlags } from "./sessions-export.ts";
import type { ListFlags } from "./sessions-list.ts";
import type { ShowFlags, TailFlags } from "./sessions-show.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline sessions`. */
export function addSessionsCommand(spanline: Command, execute: ExecuteCommand): void {
  const sessions = spanline
    .command("sessions")
    .description(
      "look at, follow, answer, audit, check, export and delete the sessions of a data directory",
    )
    .addHelpText("after", EXAMPLES);
  addList(sessions, execute);
  addShow(sessions, execute);
  addTail(sessions, execute);
  addAnswer(sessions, execute);
  addExport(sessions, execute);
  addAudit(sessions, execute);
  addCheck(sessions, execute);
  addDelete(sessions, execute);
}

function addList(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("list"))
    .description("list sessions, the newest first")
    .option("-s, --search <words>", "only those with all of these words in title, id or texts")
    .option("--agent <name>", "only those with this agent")
    .option("-l, --limit <number>", "how many", parsePositive, 20)
    .option("--page <page>", "go on where the list before ended")
    .option("--json", "as JSON, with the name of the next page")
    .action((flags: ListFlags) =>
      execute(async (io) => {
        const { runSessionsList } = await import("./sessions-list.ts");
        return runSessionsList(flags, io);
      }),
    );
}

function addShow(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("show"))
    .description("show what was said and done in a session")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("--events", "every event of its log, a line each")
    .addOption(new Option("--json", "the session and its log as JSON").conflicts("events"))
    .action((session: string, flags: ShowFlags) =>
      execute(async (io) => {
        const { runSessionsShow } = await import("./sessions-show.ts");
        return runSessionsShow(session, flags, io);
      }),
    );
}

function addTail(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("tail"))
    .description("follow a session as it goes on, until Ctrl-C")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("--from <seq>", "begin behind this event of its log; 0 for all of it", parseSeq)
    .option("--events", "every event of its log, a line each")
    .addOption(new Option("--json", "every event as a line of JSON").conflicts("events"))
    .action((session: string, flags: TailFlags) =>
      execute(async (io) => {
        const { runSessionsTail } = await import("./sessions-show.ts");
        return runSessionsTail(session, flags, io);
      }),
    );
}

function addAnswer(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("answer"))
    .description("answer a question that a session waits with; without an answer, ask or list")
    .argument("<session>", SESSION_DESCRIPTION)
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
    .action((session: string, question: string | undefined, flags: AnswerFlags) =>
      execute(async (io) => {
        const { runSessionsAnswer } = await import("./sessions-answer.ts");
        return runSessionsAnswer(session, question, flags, io);
      }),
    );
}

function addExport(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("export"))
    .description("write the log of a session, every event as a line of JSON")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("-o, --output <file>", "where to; - for standard output", "-")
    .action((session: string, flags: ExportFlags) =>
      execute(async (io) => {
        const { runSessionsExport } = await import("./sessions-export.ts");
        return runSessionsExport(session, flags, io);
      }),
    );
}

function addAudit(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("audit"))
    .description("list who let what run in a session, and check that nobody changed it since")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("--json", "as JSON, every receipt in full")
    .action((session: string, flags: AuditFlags) =>
      execute(async (io) => {
        const { runSessionsAudit } = await import("./sessions-audit.ts");
        return runSessionsAudit(session, flags, io);
      }),
    );
}

function addCheck(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("check"))
    .description("examine every session of a data directory for damaged or missing events")
    .option("--json", "as JSON, with the number of sessions and events")
    .action((flags: CheckFlags) =>
      execute(async (io) => {
        const { runSessionsCheck } = await import("./sessions-check.ts");
        return runSessionsCheck(flags, io);
      }),
    );
}

function addDelete(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("delete"))
    .description("delete a session and its log for ever; a turn that runs in it is ended")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("-y, --yes", "do not ask")
    .action((session: string, flags: DeleteFlags) =>
      execute(async (io) => {
        const { runSessionsDelete } = await import("./sessions-delete.ts");
        return runSessionsDelete(session, flags, io);
      }),
    );
}

const SESSION_DESCRIPTION = 'its id, or "latest"';

function addDirectoryOption(command: Command): Command {
  return command.option("-d, --data-dir <folder>", "where sessions are kept");
}

function parseSeq(text: string): number {
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
