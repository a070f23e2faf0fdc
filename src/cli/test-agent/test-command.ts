import type { Command } from "commander";
import { addLimitOptions, addConnectionOptions } from "../shared/flags/agent-options.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import type { TestAgentFlags } from "./run-test-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline test`. */
export function addTestCommand(spanline: Command, execute: ExecuteCommand): void {
  const test = spanline
    .command("test")
    .description("say hello to an agent, and show each stage of it, as an evaluation would see it")
    .argument("[agent]", "an agent of the configuration, or the ARN of a harness or a runtime")
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("-d, --data-dir <folder>", "where agents of the configuration keep what they keep");
  addConnectionOptions(test);
  addLimitOptions(test, "How long to wait in each turn, in seconds:");
  test
    .optionsGroup("Output:")
    .option("--json", "one object with every stage")
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

Two turns are sent: "Hello!", and one that shows that the agent goes on in the same session. Tools that run here are not offered.

Exit codes:
  0    both turns were answered in one session
  1    something failed; the last lines say what, and what to do next
  2    the agent or the configuration cannot be used; nothing was sent
  130  stopped by Ctrl-C`;
