import { Command, CommanderError } from "commander";
import { addHarness } from "../../src/cli/harness-options.ts";

/** `spanline harness` alone. */
const spanline = new Command("spanline").exitOverride();
addHarness(spanline, (exitCode) => void (process.exitCode = exitCode));
try {
  await spanline.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 ? 0 : 2;
}
