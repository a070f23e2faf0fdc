import { Command, CommanderError } from "commander";
import { createProcessIo } from "../../src/platform/process/command-io.ts";
import { addHarnessCommand } from "../../src/cli/harness/harness-command.ts";

/** Runs `spanline harness` alone. */
const spanline = new Command("spanline").exitOverride();
addHarnessCommand(spanline, async (run) => void (process.exitCode = await run(createProcessIo())));
try {
  await spanline.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
