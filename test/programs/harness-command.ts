import { Command, CommanderError } from "commander";
import { addHarnessCommand } from "../../src/cli/harness/harness-options.ts";

/** Runs `spanline harness` alone. */
const spanline = new Command("spanline").exitOverride();
addHarnessCommand(spanline, (exitCode) => void (process.exitCode = exitCode));
try {
  await spanline.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
