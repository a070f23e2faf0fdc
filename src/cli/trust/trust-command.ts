import type { Command } from "commander";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline trust`. */
export function addTrustCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("trust")
    .description("let a configuration run the code that it names, until it is changed")
    .argument("[file]", "the configuration; the nearest one upwards when not given")
    .addHelpText("after", HELP_TEXT)
    .action((file: string | undefined) =>
      execute(async (io) => {
        const { runTrustCommand } = await import("./run-trust-command.ts");
        return runTrustCommand(file, io);
      }),
    );
}

const HELP_TEXT = `
A configuration can name files of code (tools) and programs (MCP servers). One that is merely found, in a folder that may have
come from somewhere else, runs none of them before you said so. Look at it first. Naming it with --config says so too.`;
