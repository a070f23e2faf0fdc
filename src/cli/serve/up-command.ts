import type { Command } from "commander";
import { addServingOptions } from "./serving-options.ts";
import type { UpFlags } from "./run-up-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline up`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addUpCommand(spanline: Command, execute: ExecuteCommand): void {
  const up = spanline
    .command("up")
    .description("run the bridge on this machine: agents, sessions, the portal and /v1");
  addServingOptions(up)
    .option("--new-token", "create a new token for the portal link; the old token becomes invalid")
    .option("--json", "print the address as JSON")
    .addHelpText("after", EXAMPLES)
    .action((flags: UpFlags) =>
      execute(async (io) => {
        const { runUpCommand } = await import("./run-up-command.ts");
        return runUpCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Without a configuration the agent is the emulator's demo agent, which needs no credentials. Sessions survive the process:
kill it at any time and start it again, and the turn continues.

Without --keep-days and --keep-mb, sessions are kept until you delete them. With either option, the limits are applied at
the start and every hour. Sessions with a running turn or a connected client are not deleted.

The data directory is --data-dir; else SPANLINE_DATA_DIR; else the nearest .spanline upwards that is yours (used once with
--data-dir); else your state directory.

Examples:
  spanline up
  spanline up --port 8080 --config team.yaml`;
