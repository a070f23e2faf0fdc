import { Option, type Command } from "commander";
import { CAPTURE_FORMATS } from "../../inspect/capture-format.ts";
import { OUTPUT_FORMATS } from "../../inspect/output-format.ts";
import type { InspectFlags } from "./run-inspect-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline inspect`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addInspectCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("inspect")
    .description("show a captured agent stream as a readable trace")
    .argument("[file]", "capture file, or - for standard input (default if piped)")
    .addOption(
      new Option("-f, --format <format>", "output format").choices(OUTPUT_FORMATS).default("text"),
    )
    .addOption(new Option("--json", "short for --format json").conflicts("format"))
    .addOption(
      new Option("--as <format>", "format of the capture (default: detected)").choices(
        CAPTURE_FORMATS,
      ),
    )
    .addHelpText("after", EXAMPLES)
    .action((file: string | undefined, options: InspectFlags, command: Command) =>
      execute(async (io) => {
        if (file === undefined && io.stdin.isTTY === true)
          command.error("error: no capture is named. Fix: name a file, or pipe one in");
        const { runInspectCommand } = await import("./run-inspect-command.ts");
        return runInspectCommand(file ?? "-", options, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline inspect answer.bin                    an InvokeHarness response saved by curl or a proxy
  curl -sN … | spanline inspect -                an SSE stream as it arrives
  spanline inspect run.sse --format events       one JSON line per event
  spanline inspect run.json --format open-responses
  cat recordings/*.jsonl | spanline inspect      recordings of \`spanline emulate --record\`, turn by turn

A damaged stream is read up to the damage. JSON without any recognized event is refused unless --as names the format.
Exit codes: 0 the capture was read, whatever the outcome of its turn; 1 the output could not be written; 2 invalid capture
or command line; 130 interrupted.`;
