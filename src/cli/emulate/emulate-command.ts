import { Option, type Command } from "commander";
import { collectOption } from "../shared/flags/repeatable-option.ts";
import type { EmulateFlags } from "./run-emulate-command.ts";
import { parsePort } from "../shared/flags/number-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline emulate`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addEmulateCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("emulate")
    .description(
      "run AgentCore on this machine: harnesses, runtimes, sessions and their control plane",
    )
    .option("-p, --port <number>", "port to listen on; 0 picks a free port", parsePort, 4780)
    .option("--host <address>", "loopback address to listen on", "127.0.0.1")
    .option("-d, --data-dir <folder>", "folder for harnesses and sessions (default: in memory)")
    .option(
      "-b, --brain <name>",
      "brain of harnesses that name none: demo, script:FILE or model:NAME",
      "demo",
    )
    .option("--scripts <folder>", "folder of scripts that harnesses may name as their brain")
    .option("--region <name>", "region in the ARNs (default: us-east-1)")
    .addOption(
      new Option("--signatures <how>", "signature check of requests")
        .choices(["strict", "off"])
        .default("off"),
    )
    .addOption(
      new Option(
        "-s, --switch <name=value>",
        "choose a behaviour that AWS does not document; repeatable",
      ).argParser(collectOption),
    )
    .option(
      "--commands",
      "run the commands of InvokeAgentRuntimeCommand on this machine, with your rights",
    )
    .option("--record <folder>", "folder for recordings of every streamed response")
    .option("--json", "print the address as JSON")
    .addHelpText("after", EXAMPLES)
    .action((flags: EmulateFlags) =>
      execute(async (io) => {
        const { runEmulateCommand } = await import("./run-emulate-command.ts");
        return runEmulateCommand(flags, io);
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline emulate                                  the demo agent at http://127.0.0.1:4780
  spanline emulate --brain model:ollama:qwen3       a real model on this machine
  spanline emulate --brain script:scenario.yaml     responses and faults from a file
  spanline emulate --switch overlapping=interleave --switch onDisconnect=abort+forget

A harness names its own brain in the environment variable SPANLINE_BRAIN. docs/emulator.md describes scripts and
switches.`;
