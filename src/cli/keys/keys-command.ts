import type { Command } from "commander";
import type { KeysFlags } from "./run-keys-commands.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline keys`. */
export function addKeysCommand(spanline: Command, execute: ExecuteCommand): void {
  const keys = spanline
    .command("keys")
    .description("the keys that receipts of approvals and decisions are signed with")
    .addHelpText("after", HELP_TEXT);
  keys
    .command("list")
    .description("list the keys, the one in use last; never their secrets")
    .option("--json", "as JSON")
    .action((flags: KeysFlags) =>
      execute(async (io) => {
        const { runKeysList } = await import("./run-keys-commands.ts");
        return runKeysList(flags, io);
      }),
    );
  keys
    .command("rotate")
    .description(
      "make a new key, for whatever starts from now on; what the old ones signed can be checked",
    )
    .option("--json", "as JSON")
    .action((flags: KeysFlags) =>
      execute(async (io) => {
        const { runKeysRotate } = await import("./run-keys-commands.ts");
        return runKeysRotate(flags, io);
      }),
    );
}

const HELP_TEXT = `
The keys lie in your own state directory, never beside the sessions. Programs that run without a sandbox can read them.
A bridge that runs takes a new key when it is started again. \`spanline sessions audit\` checks signatures.`;
