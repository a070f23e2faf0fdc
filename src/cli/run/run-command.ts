import { Option, type Command } from "commander";
import { addLimitOptions, addConnectionOptions } from "../shared/flags/agent-options.ts";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import { parsePositive } from "../shared/flags/number-option.ts";
import type { RunFlags } from "./run-run-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline run`. */
export function addRunCommand(spanline: Command, execute: ExecuteCommand): void {
  const run = spanline
    .command("run")
    .description("run an agent from a prompt to the end of its turn, with tools that run here")
    .argument("[prompt]", "what to say; - or nothing for what standard input says")
    .option("--harness <harness>", "the harness to run: its ARN, its id, its name or NAME:TAG")
    .addOption(new Option("--runtime <arn>", "the agent runtime to run").conflicts("harness"))
    .addOption(
      new Option(
        "--agent <name>",
        "an agent of the configuration; the first when not given",
      ).conflicts(["harness", "runtime"]),
    )
    .addOption(
      new Option("-c, --config <file>", CONFIG_DESCRIPTION).conflicts(["harness", "runtime"]),
    )
    .option("--qualifier <endpoint>", "the endpoint of it; DEFAULT when not given")
    .option("--user <id>", "on whose behalf the agent acts")
    .option("--system-prompt <text>", "instead of what the harness has")
    .option("--model <id>", "instead of what the harness has")
    .optionsGroup("Tools:")
    .option("--tools <file>", "code whose default export is an array of tools; it is run")
    .option("-y, --yes", "let every tool run that asks for it")
    .addOption(new Option("-n, --no", "let none of them run").conflicts("yes"))
    .option("-d, --data-dir <folder>", "where the demo agent saves notes")
    .optionsGroup("No further call of the agent is made after:")
    .option("--max-steps <number>", "so many calls (50)", parsePositive)
    .option("--max-seconds <number>", "so many seconds (3600)", parsePositive)
    .option("--max-tokens <number>", "so many tokens", parsePositive);
  addConnectionOptions(run);
  addLimitOptions(run, "How long to wait in each call, in seconds:");
  run
    .optionsGroup("Output:")
    .addOption(
      new Option("-f, --format <format>", "what to write")
        .choices(["text", "open-responses"])
        .default("text"),
    )
    .addOption(new Option("--json", "every event of the log as a line of JSON").conflicts("format"))
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

Without --harness or --runtime it is an agent of the configuration, or else the demo agent, on an emulator of its own. What the agent says goes to stdout, calls,
approvals and results to stderr. A tool that needs an approval asks on the terminal; where there is none it is denied.
The session is kept in memory, for this run alone: "spanline sessions" does not know it, and --json writes all of it.
"spanline up" and "spanline acp" keep theirs.

Exit codes:
  0    the agent ended its turn, whatever you allowed or denied
  1    the turn failed, a cap or a limit ended it early, or a tool was denied because there was nobody to ask
  2    the command line, the configuration or the file of --tools cannot be used; nothing was sent
  130  stopped by Ctrl-C; the turn was cancelled`;
