import type { Command } from "commander";

/** `spanline trust`. */
export function addTrustCommand(spanline: Command, onExit: (exitCode: number) => void): void {
  spanline
    .command("trust")
    .description("let a configuration run the code that it names, until it is changed")
    .argument("[file]", "the configuration; the nearest one upwards when not given")
    .addHelpText("after", HELP_TEXT)
    .action(async (file: string | undefined) => {
      const { runTrustCommand } = await import("./run-trust-command.ts");
      onExit(await runTrustCommand(file));
    });
}

const HELP_TEXT = `
A configuration can name files of code (tools) and programs (MCP servers). One that is merely found, in a folder that may have
come from somewhere else, runs none of them before you said so. Look at it first. Naming it with --config says so too.`;
