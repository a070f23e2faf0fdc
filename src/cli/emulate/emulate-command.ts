import { Option, type Command } from "commander";
import { collectOption } from "../shared/flags/repeatable-option.ts";
import type { EmulateFlags } from "./run-emulate-command.ts";
import { parsePort } from "../shared/flags/number-option.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline emulate`. */
export function addEmulateCommand(spanline: Command, execute: ExecuteCommand): void {
  spanline
    .command("emulate")
    .description(
      "run AgentCore on this machine: harnesses, runtimes, sessions and their control plane",
    )
    .option("-p, --port <number>", "where to listen; 0 for any port that is free", parsePort, 4780)
    .option("--host <address>", "a loopback address", "127.0.0.1")
    .option(
      "-d, --data-dir <folder>",
      "keep harnesses and sessions there; else they are gone at the end",
    )
    .option(
      "-b, --brain <name>",
      "who answers for a harness that names nobody: demo, script:FILE, model:NAME",
      "demo",
    )
    .option("--scripts <folder>", "harnesses may name scripts of this folder as their brains")
    .option("--region <name>", "the region of its ARNs (us-east-1)")
    .addOption(
      new Option("--signatures <how>", "whether requests must be signed")
        .choices(["strict", "off"])
        .default("off"),
    )
    .addOption(
      new Option(
        "-s, --switch <name=value>",
        "choose what is not known of the service; may be given several times",
      ).argParser(collectOption),
    )
    .option("--commands", "really run the commands of InvokeAgentRuntimeCommand, as you")
    .option("--record <folder>", "keep a recording of every streamed answer there")
    .option("--json", "say where it listens as JSON")
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
  spanline emulate --brain script:scenario.yaml     what a file says, faults and all
  spanline emulate --switch overlapping=interleave --switch onDisconnect=abort+forget

A harness names its own brain in the environment variable SPANLINE_BRAIN. docs/emulator.md has the form of scripts and
the list of switches.`;
