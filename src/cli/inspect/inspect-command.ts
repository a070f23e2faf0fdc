import { Option, type Command } from "commander";
import { CAPTURE_FORMATS } from "../../inspect/capture-format.ts";
import { OUTPUT_FORMATS } from "../../inspect/output-format.ts";
import type { InspectFlags } from "./run-inspect-command.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline inspect`. */
export function addInspectCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("inspect")
    .description("show a captured agent stream as a readable trace")
    .argument(
      "[file]",
      "the capture, or - for standard input, which is also the default for a pipe",
    )
    .addOption(
      new Option("-f, --format <format>", "what to write").choices(OUTPUT_FORMATS).default("text"),
    )
    .addOption(new Option("--json", "short for --format json").conflicts("format"))
    .addOption(
      new Option("--as <format>", "what the capture is, instead of a look at it").choices(
        CAPTURE_FORMATS,
      ),
    )
    .addHelpText("after", EXAMPLES)
    .action((file: string | undefined, options: InspectFlags, command: Command) =>
      execute(async (io) => {
        if (file === undefined && io.stdin.isTTY === true)
          command.error("error: name a capture to inspect");
        const { runInspectCommand } = await import("./run-inspect-command.ts");
        return runInspectCommand(file ?? "-", options, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline inspect answer.bin                    an InvokeHarness answer, as curl or a proxy saved it
  curl -sN … | spanline inspect -                an SSE stream as it comes
  spanline inspect run.sse --format events       every event as a line of JSON
  spanline inspect run.json --format open-responses
  cat recordings/*.jsonl | spanline inspect      what \`spanline emulate --record\` kept, turn by turn

A damaged stream is read as far as it goes. JSON in which no event is recognised is refused unless --as names it.
Exit code 0 means that the capture was read, however its turn ended; 1 that the output could not be written;
2 that the capture or the command line cannot be used; 130 that it was interrupted.`;
