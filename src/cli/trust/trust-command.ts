import type { Command } from "commander";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline trust`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addTrustCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("trust")
    .description("trust a configuration to run the code that it names, until it changes")
    .argument("[file]", "configuration file (default: the nearest one upwards)")
    .addHelpText("after", HELP_TEXT)
    .action((file: string | undefined) =>
      execute(async (io) => {
        const { runTrustCommand } = await import("./run-trust-command.ts");
        return runTrustCommand(file, io);
      }),
    );
}

const HELP_TEXT = `
A configuration can name code files (tools) and programs (MCP servers). A configuration found in a folder may come from
someone else, so its code does not run until you trust it. Read it first. Naming it with --config also trusts it.`;
