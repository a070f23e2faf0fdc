import type { Command } from "commander";
import { addLimitOptions, addConnectionOptions } from "../shared/flags/agent-options.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import type { TestAgentFlags } from "./run-test-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline test`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addTestCommand(spanline: Command, execute: ExecuteCommand): void {
  const test = spanline
    .command("test")
    .description("send two test turns to an agent and print each stage, as an evaluation sees it")
    .argument(
      "[agent]",
      "agent of the configuration, or ARN of a harness or a runtime (default: the first agent)",
    )
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "data directory of the agents");
  addConnectionOptions(test);
  addLimitOptions(test, "Timeouts of each turn, in seconds:");
  test
    .optionsGroup("Output:")
    .option("--json", "print one JSON object with all stages")
    .addHelpText("after", EXAMPLES)
    .action((agent: string | undefined, flags: TestAgentFlags) =>
      execute(async (io) => {
        const { runTestCommand } = await import("./run-test-command.ts");
        return runTestCommand(agent, flags, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline test                   the first agent of the configuration, or the demo agent
  spanline test support --json
  spanline test arn:aws:bedrock-agentcore:…:harness/support-a1b2c3d4e5

Two turns are sent: "Hello!", and a second turn that checks that the session continues. Client tools are not offered.

Exit codes:
  0    both turns were answered in one session
  1    the test failed; the last lines name the problem and the fix
  2    the agent or the configuration is invalid; nothing was sent
  130  interrupted`;
