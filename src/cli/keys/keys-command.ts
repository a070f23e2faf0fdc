import type { Command } from "commander";
import type { KeysFlags } from "./run-keys-commands.ts";

/** `spanline keys`. */
export function addKeysCommand(spanline: Command, onExit: (exitCode: number) => void): void {
  const keys = spanline
    .command("keys")
    .description("the keys that receipts of approvals and decisions are signed with")
    .addHelpText("after", HELP_TEXT);
  keys
    .command("list")
    .description("list the keys, the one in use last; never their secrets")
    .option("--json", "as JSON")
    .action(async (flags: KeysFlags) => {
      const { runKeysList } = await import("./run-keys-commands.ts");
      onExit(await runKeysList(flags));
    });
  keys
    .command("rotate")
    .description(
      "make a new key, for whatever starts from now on; what the old ones signed can be checked",
    )
    .option("--json", "as JSON")
    .action(async (flags: KeysFlags) => {
      const { runKeysRotate } = await import("./run-keys-commands.ts");
      onExit(await runKeysRotate(flags));
    });
}

const HELP_TEXT = `
The keys lie in your own state directory, never beside the sessions. Programs that run without a sandbox can read them.
A bridge that runs takes a new key when it is started again. \`spanline sessions audit\` checks signatures.`;
