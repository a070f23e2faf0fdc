import type { Command } from "commander";
import type { ServeFlags } from "./run-serve-command.ts";
import { addServingOptions } from "./serving-options.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline serve`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addServeCommand(spanline: Command, execute: ExecuteCommand): void {
  const serve = spanline
    .command("serve")
    .description("serve agents over HTTP: Open Responses and chat completions, without the portal");
  addServingOptions(serve)
    .option("--json", "print the address as JSON")
    .addHelpText("after", EXAMPLES)
    .action((flags: ServeFlags) =>
      execute(async (io) => {
        const { runServeCommand } = await import("./run-serve-command.ts");
        return runServeCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Clients see each agent as a model. Without a configuration the only agent is "demo", which needs no credentials. If another
process, such as "spanline up", already runs the sessions, this process joins it.

On a loopback address, keys are required only if the configuration has serve.keys; on other addresses they are always required.
docs/serving.md explains how to create one.

Without --keep-days and --keep-mb, sessions are kept until you delete them.

Examples:
  spanline serve
  spanline serve --host 0.0.0.0 --config team.yaml --access-log access.jsonl
  OPENAI_BASE_URL=http://127.0.0.1:4777/v1 OPENAI_API_KEY=none my-client

Exit codes:
  0    stopped by SIGINT or SIGTERM
  1    the server cannot listen
  2    the configuration, the address or the data directory is invalid
  130  interrupted before the start was complete`;
