import type { Command } from "commander";
import type { KeysFlags } from "./keys.ts";

/** `spanline keys`. */
export function addKeys(spanline: Command, done: (exitCode: number) => void): void {
  const keys = spanline
    .command("keys")
    .description("the keys that receipts of approvals and decisions are signed with")
    .addHelpText("after", ABOUT);
  keys
    .command("list")
    .description("list the keys, the one in use last; never their secrets")
    .option("--json", "as JSON")
    .action(async (flags: KeysFlags) => {
      const { listKeysCommand } = await import("./keys.ts");
      done(await listKeysCommand(flags));
    });
  keys
    .command("rotate")
    .description(
      "make a new key, for whatever starts from now on; what the old ones signed can be checked",
    )
    .option("--json", "as JSON")
    .action(async (flags: KeysFlags) => {
      const { rotateKeyCommand } = await import("./keys.ts");
      done(await rotateKeyCommand(flags));
    });
}

const ABOUT = `
The keys lie in your own state directory, never beside the sessions. Programs that run without a sandbox can read them.
A bridge that runs takes a new key when it is started again. \`spanline sessions audit\` checks signatures.`;
