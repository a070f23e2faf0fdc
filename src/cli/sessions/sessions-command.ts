import { InvalidArgumentError, Option, type Command } from "commander";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { AnswerFlags } from "./sessions-answer.ts";
import type { ArtifactsFlags } from "./sessions-artifacts.ts";
import type { AuditFlags } from "./sessions-audit.ts";
import type { CheckFlags } from "./sessions-check.ts";
import type { DeleteFlags } from "./sessions-delete.ts";
import type { ExportFlags } from "./sessions-export.ts";
import type { ListFlags } from "./sessions-list.ts";
import type { ShowFlags, TailFlags } from "./sessions-show.ts";
import type { UsageFlags } from "./sessions-usage.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline sessions`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addSessionsCommand(spanline: Command, execute: ExecuteCommand): void {
  const sessions = spanline
    .command("sessions")
    .description(
      "list, show, follow, answer, audit, measure, save artifacts of, check, export and delete the sessions of a data directory",
    )
    .addHelpText("after", EXAMPLES);
  addList(sessions, execute);
  addShow(sessions, execute);
  addTail(sessions, execute);
  addAnswer(sessions, execute);
  addExport(sessions, execute);
  addAudit(sessions, execute);
  addArtifacts(sessions, execute);
  addUsage(sessions, execute);
  addCheck(sessions, execute);
  addDelete(sessions, execute);
}

function addList(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("list"))
    .description("list sessions, the newest first")
    .option(
      "-s, --search <words>",
      "only sessions with all of these words in title, id or messages",
    )
    .option("--agent <name>", "only sessions of this agent")
    .option("-l, --limit <number>", "maximum number of sessions", parsePositive, 20)
    .option("--page <page>", "page to show, as printed by the previous list")
    .option("--workers", "also list the sessions of workers")
    .option("--json", "print JSON, including the next page")
    .action((flags: ListFlags) =>
      execute(async (io) => {
        const { runSessionsList } = await import("./sessions-list.ts");
        return runSessionsList(flags, io);
      }),
    );
}

function addShow(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("show"))
    .description("print the transcript of a session")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("--events", "print one line per event of the log")
    .addOption(new Option("--json", "print the session and its log as JSON").conflicts("events"))
    .action((session: string, flags: ShowFlags) =>
      execute(async (io) => {
        const { runSessionsShow } = await import("./sessions-show.ts");
        return runSessionsShow(session, flags, io);
      }),
    );
}

function addTail(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("tail"))
    .description("follow a session until Ctrl-C")
    .argument("<session>", SESSION_DESCRIPTION)
    .option(
      "--from <seq>",
      "start after this event (default: the last); 0 prints the whole log",
      parseSeq,
    )
    .option("--events", "print one line per event of the log")
    .addOption(new Option("--json", "one JSON line per event").conflicts("events"))
    .action((session: string, flags: TailFlags) =>
      execute(async (io) => {
        const { runSessionsTail } = await import("./sessions-show.ts");
        return runSessionsTail(session, flags, io);
      }),
    );
}

function addAnswer(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("answer"))
    .description("decide an open approval; without a decision, ask in the terminal or list them")
    .argument("<session>", SESSION_DESCRIPTION)
    .argument("[question]", "id of the approval; optional if only one is open")
    .option("--allow", "allow it once")
    .addOption(new Option("--deny", "deny it").conflicts(["allow", "always", "answer"]))
    .addOption(
      new Option("--always", "allow it and similar tool calls in this session").conflicts([
        "allow",
        "answer",
      ]),
    )
    .addOption(
      new Option(
        "--answer <word>",
        "any of the listed options, or the answer to a question",
      ).conflicts("allow"),
    )
    .action((session: string, question: string | undefined, flags: AnswerFlags) =>
      execute(async (io) => {
        const { runSessionsAnswer } = await import("./sessions-answer.ts");
        return runSessionsAnswer(session, question, flags, io);
      }),
    );
}

function addExport(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("export"))
    .description("write the log of a session, one JSON line per event")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("-o, --output <file>", "output file; - for standard output", "-")
    .action((session: string, flags: ExportFlags) =>
      execute(async (io) => {
        const { runSessionsExport } = await import("./sessions-export.ts");
        return runSessionsExport(session, flags, io);
      }),
    );
}

function addAudit(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("audit"))
    .description("list the decisions of a session and verify their receipts")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("--json", "print JSON with all receipts in full")
    .action((session: string, flags: AuditFlags) =>
      execute(async (io) => {
        const { runSessionsAudit } = await import("./sessions-audit.ts");
        return runSessionsAudit(session, flags, io);
      }),
    );
}

function addArtifacts(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("artifacts"))
    .description("list the artifacts and handoffs of a session, or save them as files")
    .argument("<session>", SESSION_DESCRIPTION)
    .argument("[artifact]", "id of an artifact; default: all")
    .option("-o, --output <folder>", "save the artifacts in this folder; no file is replaced")
    .addOption(new Option("--json", "print JSON").conflicts("output"))
    .action((session: string, artifact: string | undefined, flags: ArtifactsFlags) =>
      execute(async (io) => {
        const { runSessionsArtifacts } = await import("./sessions-artifacts.ts");
        return runSessionsArtifacts(session, artifact, flags, io);
      }),
    );
}

function addUsage(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("usage"))
    .description("print used tokens, seconds, tool calls, invocations and US dollars with budgets")
    .argument("[session]", `${SESSION_DESCRIPTION}; default: the newest sessions`)
    .option("--json", "print JSON")
    .action((session: string | undefined, flags: UsageFlags) =>
      execute(async (io) => {
        const { runSessionsUsage } = await import("./sessions-usage.ts");
        return runSessionsUsage(session, flags, io);
      }),
    );
}

function addCheck(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("check"))
    .description("check all sessions of a data directory for damaged or missing events")
    .option("--json", "print JSON with the number of sessions and events")
    .action((flags: CheckFlags) =>
      execute(async (io) => {
        const { runSessionsCheck } = await import("./sessions-check.ts");
        return runSessionsCheck(flags, io);
      }),
    );
}

function addDelete(sessions: Command, execute: ExecuteCommand): void {
  addDirectoryOption(sessions.command("delete"))
    .description("delete a session and its log permanently; a running turn is cancelled")
    .argument("<session>", SESSION_DESCRIPTION)
    .option("-y, --yes", "delete without confirmation")
    .action((session: string, flags: DeleteFlags) =>
      execute(async (io) => {
        const { runSessionsDelete } = await import("./sessions-delete.ts");
        return runSessionsDelete(session, flags, io);
      }),
    );
}

const SESSION_DESCRIPTION = 'session id, or "latest"';

function addDirectoryOption(command: Command): Command {
  return command.option("-d, --data-dir <folder>", "data directory with the sessions");
}

function parseSeq(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0 && text.trim() !== "") return number;
  throw new InvalidArgumentError("Expected an integer of at least 0.");
}

const EXAMPLES = `
Examples:
  spanline sessions list --search "refund 7"
  spanline sessions show latest
  spanline sessions tail latest --from 0
  spanline sessions answer latest
  spanline sessions answer latest appr_… --deny
  spanline sessions audit latest
  spanline sessions artifacts latest --output artifacts
  spanline sessions check
  spanline sessions export ses_… --output session.jsonl
  spanline sessions delete ses_… --yes

All commands except answer and delete only read, also while another process runs the sessions. These two send their
command to that process.

The data directory is --data-dir; else SPANLINE_DATA_DIR; else the nearest .spanline upwards that is yours (used once with
--data-dir); else your state directory.

Exit codes: 0 success (tail: stopped by Ctrl-C); 1 failure, no confirmation, a damaged log or an unverified receipt;
2 unknown session or invalid command line.`;
