import type { Command } from "commander";
import { addServingOptions } from "./serving-options.ts";
import type { UpFlags } from "./run-up-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline up`. */
export function addUpCommand(spanline: Command, execute: ExecuteCommand): void {
  const up = spanline
    .command("up")
    .description("run the bridge on this machine: an agent, its sessions, a live page and /v1");
  addServingOptions(up)
    .option("--new-token", "make another token for the link; the old one loses its rights")
    .option("--json", "say where it listens as JSON")
    .addHelpText("after", EXAMPLES)
    .action((flags: UpFlags) =>
      execute(async (io) => {
        const { runUpCommand } = await import("./run-up-command.ts");
        return runUpCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Without a configuration the agent is the emulator's demo: no credentials are needed. Sessions outlive the process: kill it at any moment and
start it again, and the turn goes on.

Without --keep-days and --keep-mb, sessions are kept until you delete them. With one, it is looked at now and every hour;
a session that is at work, or that somebody has open, stays.

Sessions are kept in --data-dir, else SPANLINE_DATA_DIR, else the nearest .spanline upwards
that is yours (named once with --data-dir), else your state directory.`;
