import type { Command } from "commander";
import type { AcpFlags } from "./run-acp-command.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import { updatesOption } from "../shared/flags/updates-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline acp`. */
export function addAcpCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("acp")
    .description("serve an editor over the Agent Client Protocol, on standard input and output")
    .option("-s, --session <id>", 'join a session instead of a new one: its id, or "latest"')
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "where sessions are kept")
    .addOption(updatesOption())
    .option("-v, --verbose", "also say on standard error what was passed over")
    .addHelpText("after", EXAMPLES)
    .action((flags: AcpFlags) =>
      execute(async (io) => {
        const { runAcpCommand } = await import("./run-acp-command.ts");
        return runAcpCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Editors start this themselves; give them the command "spanline" with the argument "acp". While "spanline up" runs, the
editor shares its sessions; without it, this process runs them.

Example, in the settings of Zed:
  "agent_servers": { "Spanline": { "type": "custom", "command": "spanline", "args": ["acp"] } }

With --session, a new thread of the editor is that session instead, with all that was said in it.`;
