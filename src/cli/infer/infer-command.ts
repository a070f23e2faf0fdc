import { Option, type Command } from "commander";
import { addLimitOptions } from "../shared/flags/agent-options.ts";
import type { InferFlags } from "./run-infer-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline infer`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addInferCommand(spanline: Command, execute: ExecuteCommand): void {
  const infer = spanline
    .command("infer")
    .description("run one turn for AI GO!: request on standard input, response on standard output")
    .option(
      "--agent <name>",
      "agent of the configuration (default: the agent named by the environment)",
    )
    .option(
      "-c, --config <file>",
      "configuration file (default with --agent: the nearest one upwards)",
    )
    .option("-d, --data-dir <folder>", "data directory of the demo agent")
    .addOption(
      new Option("--history <policy>", "what to do with earlier messages of an unknown session")
        .choices(["replay", "reject", "ignore"])
        .default("replay"),
    );
  addLimitOptions(infer, "Timeouts in seconds:")
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

Without --agent and --config, the environment names the agent and the credentials: AWS_HARNESS_ARN or AWS_RUNTIME_ARN,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. No other credential source is used. AWS_ENDPOINT_URL may
point to an emulator.

Client tools (from the configuration, a workspace or MCP servers) are not offered. To offer them, use spanline serve with
/v1/inference.

Exit codes:
  0    the turn is complete
  1    the turn failed; a partial response is on stdout
  2    the request, the environment or the configuration is invalid; nothing was sent
  130  interrupted`;
