import { Option, type Command } from "commander";
import { OUTPUT_FORMATS } from "../../inspect/output-format.ts";
import { collectOption } from "../shared/flags/repeatable-option.ts";
import type { InvokeFlags } from "./run-invoke-command.ts";
import { addLimitOptions, addConnectionOptions } from "../shared/flags/agent-options.ts";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline invoke`. */
export function addInvokeCommand(spanline: Command, execute: ExecuteCommand): void {
  const invoke = spanline
    .command("invoke")
    .description("make one call to an agent on AgentCore, and show its answer as it comes")
    .argument("[text]", "what to say; beside results it may be left out")
    .option("--harness <harness>", "the harness to call: its ARN, its id, its name or NAME:TAG")
    .addOption(new Option("--runtime <arn>", "the agent runtime to call").conflicts("harness"))
    .option("--qualifier <endpoint>", "the endpoint of it; DEFAULT when not given")
    .option("--session <id>", "go on with a conversation; a new one begins when not given")
    .option("--user <id>", "on whose behalf the agent acts")
    .optionsGroup("The results of calls that wait for this side:")
    .addOption(
      new Option(
        "--answers <file>",
        "the answer that has the calls, as --raw kept it; needs --session",
      ).conflicts("runtime"),
    )
    .option(
      "--result <id=text>",
      "what a call came to; id=@file for what a file says",
      collectOption,
    )
    .option("--error-result <id=text>", "the same for a call that failed", collectOption)
    .optionsGroup("Instead of what the harness has:")
    .option("--system-prompt <text>", "the system prompt")
    .option("--model <id>", "the model, by its id on Bedrock")
    .option("--max-iterations <number>", "the most model calls", parsePositive)
    .option("--max-tokens <number>", "the most tokens of output", parsePositive)
    .option("--timeout-seconds <number>", "how long the agent may take", parsePositive);
  addConnectionOptions(invoke);
  addLimitOptions(invoke, "How long to wait, in seconds:");
  invoke
    .optionsGroup("Output:")
    .addOption(
      new Option("-f, --format <format>", "what to write").choices(OUTPUT_FORMATS).default("text"),
    )
    .addOption(new Option("--json", "every event as a line of JSON").conflicts("format"))
    .option("--raw <file>", "keep the bytes of the answer; `spanline inspect` reads them")
    .addHelpText("after", EXAMPLES)
    .action((text: string | undefined, flags: InvokeFlags) =>
      execute(async (io) => {
        const { runInvokeCommand } = await import("./run-invoke-command.ts");
        return runInvokeCommand(text, flags, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline invoke --harness arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-a1b2c3d4e5 "Hello"
  spanline invoke --harness demo --region us-east-1 "Hello"
  spanline invoke --runtime arn:… "Plan my day" --format open-responses
  spanline invoke --endpoint-url http://127.0.0.1:4780 --harness demo "Refund order 7" --raw turn.bin
  spanline invoke --endpoint-url http://127.0.0.1:4780 --harness demo --session … --answers turn.bin --result call_1=paid

The answer goes to stdout, everything else to stderr. Tools that wait for this side are shown, not run; --answers makes
the call that brings their results.
AWS_ENDPOINT_URL_BEDROCK_AGENTCORE is used where --endpoint-url is not given, AWS_BEARER_TOKEN_BEDROCK_AGENTCORE
in place of a signature. The call is made once, whatever happens to it.
Exit codes: 0 done, 1 the call or the turn failed, 2 the command line cannot be used, 130 stopped by Ctrl-C.`;
