import { Option, type Command } from "commander";
import type { ChatFlags } from "./chat-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";

/** `spanline chat`. */
export function addChatCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("chat")
    .description("talk to an agent in the terminal, in a session that is kept")
    .option("--agent <name>", "the agent of a new session; the first one when not given")
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "data directory with the sessions")
    .optionsGroup("Sessions:")
    .option("-s, --session <id>", 'go on with a session: its id, or "latest"')
    .addOption(
      new Option(
        "-r, --resume [id]",
        "the same; the newest of this folder without an id",
      ).conflicts("session"),
    )
    .option("--observe", "watch only; /takeover takes control")
    .optionsGroup("A bridge elsewhere:")
    .addOption(
      new Option("--url <address>", "its address, such as ws://127.0.0.1:4777/acp").conflicts([
        "config",
        "dataDir",
      ]),
    )
    .option("--token <token>", "its token or a key; else SPANLINE_TOKEN")
    .optionsGroup("Output:")
    .option("--json", "every update as a line of JSON")
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

While "spanline up" runs, it shares its sessions; without it, this process runs them. Leaving ends no session. A tool that
needs an approval asks; Enter alone never allows it. Without a terminal every line of standard input is a prompt, what the agent says
goes to standard output, all else to standard error, and what needs an approval is denied.

Exit codes:
  0    you left, or everything that was asked was answered
  1    a turn failed or ended early, or something was denied because there was nobody to ask
  2    the command line or the configuration cannot be used, or there is no such session
  130  left by Ctrl-C`;
