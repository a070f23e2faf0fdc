import { Option, type Command } from "commander";
import type { ChatFlags } from "./chat-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";

/** Declares `spanline chat`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addChatCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("chat")
    .description("talk to an agent in the terminal, in a stored session")
    .option("--agent <name>", "agent of a new session (default: the first)")
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "data directory with the sessions")
    .option("--budget <caps>", "budget of each prompt's turn, such as tokens=20000,toolCalls=10")
    .optionsGroup("Sessions:")
    .option("-s, --session <id>", 'session to continue: its id, or "latest"')
    .addOption(
      new Option(
        "-r, --resume [id]",
        "same as --session (default: the newest session of this folder)",
      ).conflicts("session"),
    )
    .option("--observe", "only observe; /takeover takes control")
    .optionsGroup("Remote bridge:")
    .addOption(
      new Option("--url <address>", "URL of the bridge, such as ws://127.0.0.1:4777/acp").conflicts(
        ["config", "dataDir"],
      ),
    )
    .option("--token <token>", "token of the bridge, or a key (default: SPANLINE_TOKEN)")
    .optionsGroup("Output:")
    .option("--json", "print one JSON line per update")
    .addHelpText("after", EXAMPLES)
    .action((flags: ChatFlags) =>
      execute(async (io) => {
        const { runChatCommand } = await import("./chat-command.ts");
        return runChatCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline chat
  spanline chat --resume
  spanline chat --session latest --observe
  SPANLINE_TOKEN=… spanline chat --url ws://127.0.0.1:4777/acp
  echo "What is 2 + 3?" | spanline chat

While "spanline up" runs, the chat shares its sessions; otherwise this process runs them. Leaving does not end a session.
Approvals are requested in the terminal; Enter alone never allows. Without a terminal every line of standard input is a
prompt, the agent's text goes to standard output, everything else goes to standard error, and approvals are denied.

Exit codes:
  0    you left, or all prompts were answered
  1    a turn failed or ended early, or an approval was denied for lack of a terminal
  2    the command line, the configuration or the session is invalid
  130  interrupted`;
