import type { Command } from "commander";
import type { ServeFlags } from "./run-serve-command.ts";
import { addServingOptions } from "./serving-options.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline serve`. */
export function addServeCommand(spanline: Command, execute: ExecuteCommand): void {
  const serve = spanline
    .command("serve")
    .description("serve agents to programs: Open Responses and chat completions, without the page");
  addServingOptions(serve)
    .option("--json", "say where it listens as JSON")
    .addHelpText("after", EXAMPLES)
    .action((flags: ServeFlags) =>
      execute(async (io) => {
        const { runServeCommand } = await import("./run-serve-command.ts");
        return runServeCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Agents are what clients take for models. Without a configuration there is the demo agent, "demo", which needs no credentials. While
"spanline up" or an editor runs on the same sessions, this process joins it.

On this machine no key is needed unless the configuration has some (serve.keys); on any other address there have to be keys.
docs/serving.md says how to make one.

Without --keep-days and --keep-mb, sessions are kept until you delete them.

Examples:
  spanline serve
  spanline serve --host 0.0.0.0 --config team.yaml --access-log access.jsonl
  OPENAI_BASE_URL=http://127.0.0.1:4777/v1 OPENAI_API_KEY=none my-client

Exit codes:
  0    it was told to stop
  1    it cannot listen
  2    the configuration, the address or the data directory cannot be used
  130  stopped before it was up`;
