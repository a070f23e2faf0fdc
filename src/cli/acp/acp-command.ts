import type { Command } from "commander";
import type { AcpFlags } from "./run-acp-command.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import { createUpdatesOption } from "../shared/flags/updates-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline acp`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addAcpCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("acp")
    .description("serve an editor over the Agent Client Protocol, on standard input and output")
    .option("-s, --session <id>", 'session to join instead of creating one: its id, or "latest"')
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "data directory with the sessions")
    .addOption(createUpdatesOption())
    .option("-v, --verbose", "also log ignored messages on standard error")
    .addHelpText("after", EXAMPLES)
    .action((flags: AcpFlags) =>
      execute(async (io) => {
        const { runAcpCommand } = await import("./run-acp-command.ts");
        return runAcpCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Editors start this command themselves: configure the command "spanline" with the argument "acp". While "spanline up"
runs, the editor shares its sessions; otherwise this process runs them.

Example for the settings of Zed:
  "agent_servers": { "Spanline": { "type": "custom", "command": "spanline", "args": ["acp"] } }

With --session, a new thread of the editor opens the named session with its whole history.`;
