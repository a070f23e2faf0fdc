import type { Command } from "commander";
import { port } from "./number-option.ts";
import type { UpFlags } from "./up.ts";

/** `spanline up`. */
export function addUp(spanline: Command, done: (exitCode: number) => void): void {
  spanline
    .command("up")
    .description("run the bridge on this machine: an agent, its sessions, and a live page")
    .option("-p, --port <number>", "where to listen; 0 for any port that is free", port, 4777)
    .option("-d, --data-dir <folder>", "where sessions are kept")
    .option("--new-token", "make another token for the link; the old one loses its rights")
    .option("--json", "say where it listens as JSON")
    .addHelpText("after", EXAMPLES)
    .action(async (flags: UpFlags) => {
      const { upCommand } = await import("./up.ts");
      done(await upCommand(flags));
    });
}

const EXAMPLES = `
The agent is the emulator's demo: no credentials are needed. Sessions outlive the process: kill it at any moment and
start it again, and the turn goes on.

Sessions are kept in --data-dir, else SPANLINE_DATA_DIR, else the nearest .spanline upwards, else your state directory.`;
