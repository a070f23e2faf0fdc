import { Option, type Command } from "commander";
import { OUTPUT_FORMATS } from "../../inspect/output-format.ts";
import { collectOption } from "../shared/flags/repeatable-option.ts";
import type { InvokeFlags } from "./run-invoke-command.ts";
import { addLimitOptions, addConnectionOptions } from "../shared/flags/agent-options.ts";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline invoke`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addInvokeCommand(spanline: Command, execute: ExecuteCommand): void {
  const invoke = spanline
    .command("invoke")
    .description("invoke an agent on AgentCore once and stream its response")
    .argument("[text]", "the prompt; optional with results")
    .option("--harness <harness>", "harness to invoke: ARN, id, name or NAME:TAG")
    .addOption(new Option("--runtime <arn>", "agent runtime to invoke").conflicts("harness"))
    .option("--qualifier <endpoint>", "endpoint of the agent (default: DEFAULT)")
    .option("--session <id>", "session to continue (default: a new session)")
    .option("--user <id>", "user id for the agent")
    .optionsGroup("Results of open tool calls:")
    .addOption(
      new Option(
        "--answers <file>",
        "response with the tool calls, saved with --raw; needs --session",
      ).conflicts("runtime"),
    )
    .option(
      "--result <id=text>",
      "result of a tool call; id=@file reads a file; repeatable",
      collectOption,
    )
    .option("--error-result <id=text>", "result of a failed tool call; repeatable", collectOption)
    .optionsGroup("Overrides of the harness settings:")
    .option("--system-prompt <text>", "system prompt")
    .option("--model <id>", "Bedrock model id")
    .option("--max-iterations <number>", "limit for model calls", parsePositive)
    .option("--max-tokens <number>", "limit for output tokens", parsePositive)
    .option("--timeout-seconds <number>", "limit for the agent, in seconds", parsePositive);
  addConnectionOptions(invoke);
  addLimitOptions(invoke, "Timeouts in seconds:");
  invoke
    .optionsGroup("Output:")
    .addOption(
      new Option("-f, --format <format>", "output format").choices(OUTPUT_FORMATS).default("text"),
    )
    .addOption(new Option("--json", "one JSON line per event").conflicts("format"))
    .option("--raw <file>", "save the bytes of the response; `spanline inspect` reads them")
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

The response goes to stdout, everything else to stderr. Client tool calls are shown, not run; invoke again with --answers
to send their results. Without --endpoint-url, AWS_ENDPOINT_URL_BEDROCK_AGENTCORE is used. AWS_BEARER_TOKEN_BEDROCK_AGENTCORE
replaces the signature. The request is sent once and never retried.
Exit codes: 0 success, 1 the invocation or the turn failed, 2 invalid command line, 130 interrupted.`;
