import { Option, type Command } from "commander";
import { addLimitOptions } from "../shared/flags/agent-options.ts";
import type { InferFlags } from "./run-infer-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline infer`. */
export function addInferCommand(spanline: Command, execute: ExecuteCommand): void {
  const infer = spanline
    .command("infer")
    .description(
      "one turn for AI GO!: its request on standard input, its answer on standard output",
    )
    .option("--agent <name>", "an agent of the configuration, in place of the environment's")
    .option("-c, --config <file>", "its configuration; with --agent alone, the nearest one upwards")
    .option("-d, --data-dir <folder>", "where the demo agent keeps its sessions")
    .addOption(
      new Option("--history <policy>", "for a conversation that has no session here")
        .choices(["replay", "reject", "ignore"])
        .default("replay"),
    );
  addLimitOptions(infer, "How long to wait, in seconds:")
    .addHelpText("after", EXAMPLES)
    .action((flags: InferFlags) =>
      execute(async (io) => {
        const { runInferCommand } = await import("./run-infer-command.ts");
        return runInferCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  echo '{"messages":[{"role":"user","content":"Hello!"}]}' | AWS_HARNESS_ARN=arn:… spanline infer
  spanline infer --agent support < turn.json

Without --agent or --config the environment names the agent and the credentials: AWS_HARNESS_ARN or AWS_RUNTIME_ARN, AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; nothing else is asked for credentials. AWS_ENDPOINT_URL leads to an emulator.

Tools that run here are not offered: neither those of the configuration nor those of a workspace or of MCP servers. A server offers
them: spanline serve, and /v1/inference.

Exit codes:
  0    the agent ended its turn
  1    the turn failed; where the agent had begun to answer, what it said is on stdout
  2    the request, the environment or the configuration cannot be used; nothing was sent
  130  stopped by Ctrl-C`;
