import type { Command } from "commander";
import type { KeysFlags } from "./run-keys-commands.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline keys`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addKeysCommand(spanline: Command, execute: ExecuteCommand): void {
  const keys = spanline
    .command("keys")
    .description("manage the keys that sign receipts of approvals and policy decisions")
    .addHelpText("after", HELP_TEXT);
  keys
    .command("list")
    .description("list the keys without their secrets; the current key is last")
    .option("--json", "print JSON")
    .action((flags: KeysFlags) =>
      execute(async (io) => {
        const { runKeysList } = await import("./run-keys-commands.ts");
        return runKeysList(flags, io);
      }),
    );
  keys
    .command("rotate")
    .description("create a new key for later starts; old receipts can still be verified")
    .option("--json", "print JSON")
    .action((flags: KeysFlags) =>
      execute(async (io) => {
        const { runKeysRotate } = await import("./run-keys-commands.ts");
        return runKeysRotate(flags, io);
      }),
    );
}

const HELP_TEXT = `
Keys are stored in your state directory, never with the sessions. Programs without a sandbox can read them.
A running bridge uses a new key after its next start. \`spanline sessions audit\` verifies signatures.`;
