import { Option, type Command } from "commander";
import { addLimitOptions, addConnectionOptions } from "../shared/flags/agent-options.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { RunFlags } from "./run-run-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline run`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addRunCommand(spanline: Command, execute: ExecuteCommand): void {
  const run = spanline
    .command("run")
    .description("run one turn of an agent, with client tools on this machine")
    .argument("[prompt]", "the prompt; - or nothing reads standard input")
    .option("--harness <harness>", "harness to run: ARN, id, name or NAME:TAG")
    .addOption(new Option("--runtime <arn>", "agent runtime to run").conflicts("harness"))
    .addOption(
      new Option("--agent <name>", "agent of the configuration (default: the first)").conflicts([
        "harness",
        "runtime",
      ]),
    )
    .addOption(
      new Option("-c, --config <file>", CONFIG_DESCRIPTION).conflicts(["harness", "runtime"]),
    )
    .option("--qualifier <endpoint>", "endpoint of the agent (default: DEFAULT)")
    .option("--user <id>", "user id for the agent")
    .option("--system-prompt <text>", "system prompt (default: the harness setting)")
    .option("--model <id>", "Bedrock model id (default: the harness setting)")
    .optionsGroup("Tools:")
    .option("--tools <file>", "module whose default export is an array of tools; its code runs")
    .option("-y, --yes", "approve every tool call that needs an approval")
    .addOption(
      new Option("-n, --no", "deny every tool call that needs an approval").conflicts("yes"),
    )
    .option("-d, --data-dir <folder>", "data directory; the demo agent saves notes there")
    .optionsGroup("Limits; no invocation starts after:")
    .option("--max-steps <number>", "number of invocations (default: 50)", parsePositive)
    .option("--max-seconds <number>", "number of seconds (default: 3600)", parsePositive)
    .option("--max-tokens <number>", "number of tokens", parsePositive);
  addConnectionOptions(run);
  addLimitOptions(run, "Timeouts of each invocation, in seconds:");
  run
    .optionsGroup("Output:")
    .addOption(
      new Option("-f, --format <format>", "output format")
        .choices(["text", "open-responses"])
        .default("text"),
    )
    .addOption(new Option("--json", "one JSON line per event of the log").conflicts("format"))
    .addHelpText("after", EXAMPLES)
    .action((prompt: string | undefined, flags: RunFlags) =>
      execute(async (io) => {
        const { runRunCommand } = await import("./run-run-command.ts");
        return runRunCommand(prompt, flags, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline run "Please save a note: buy milk"
  git diff | spanline run --harness reviewer --tools tools.mjs --yes -
  spanline run --runtime arn:… "Plan my day" --format open-responses

Without --harness and --runtime, an agent of the configuration runs; without a configuration, the demo agent on its own
emulator. The agent's text goes to stdout; tool calls, approvals and results go to stderr. Approvals are requested in the
terminal; without a terminal they are denied.
The session exists only in memory: "spanline sessions" cannot show it, but --json prints its whole log. Sessions of
"spanline up" and "spanline acp" are stored.

Exit codes:
  0    the turn is complete, whatever you allowed or denied
  1    the turn failed, a limit ended it early, or a tool was denied for lack of a terminal
  2    the command line, the configuration or the --tools file is invalid; nothing was sent
  130  interrupted; the turn was cancelled`;
