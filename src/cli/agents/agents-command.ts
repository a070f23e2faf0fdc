import { InvalidArgumentError, type Command } from "commander";
import type { DelegateFlags } from "./agents-delegate.ts";
import type { PeerFlags } from "./agents-show.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline agents`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addAgentsCommand(spanline: Command, execute: ExecuteCommand): void {
  const agents = spanline
    .command("agents")
    .description("inspect other agents (A2A), and delegate paid work to them within a budget")
    .addHelpText("after", EXAMPLES);
  addPeerOptions(agents.command("show"))
    .description("print the agent card: interfaces, skills and support for paid work")
    .argument("<url>", "address of the agent or of its card")
    .action((url: string, flags: PeerFlags) =>
      execute(async (io) => {
        const { runAgentsShow } = await import("./agents-show.ts");
        return runAgentsShow(url, flags, io);
      }),
    );
  addPeerOptions(agents.command("delegate"))
    .description("let another agent plan a task, approve the plan, and get a result for review")
    .argument("<url>", "address of the agent or of its card")
    .argument("<task>", "the task, in words")
    .option("--max-usd <number>", "most US dollars", parseAmount)
    .option("--max-tokens <number>", "most tokens", parseAmount)
    .option("--max-seconds <number>", "most seconds of work", parseAmount)
    .option("--max-tool-calls <number>", "most tool calls", parseAmount)
    .option("--approve <hash>", "approve the plan with this hash without a question")
    .option(
      "--idempotency-key <key>",
      "name of this delegation; the same key never pays twice (default: derived from url, task and budget)",
    )
    .option("-d, --data-dir <folder>", "folder with the records of delegations")
    .action((url: string, task: string, flags: DelegateFlags) =>
      execute(async (io) => {
        const { runAgentsDelegate } = await import("./agents-delegate.ts");
        return runAgentsDelegate({ url, task }, flags, io);
      }),
    );
}

function addPeerOptions(command: Command): Command {
  return command
    .option("--key-env <name>", "environment variable with the key for the agent")
    .option("--json", "print JSON");
}

function parseAmount(text: string): number {
  const amount = Number(text);
  if (text.trim() !== "" && Number.isFinite(amount) && amount > 0) return amount;
  throw new InvalidArgumentError("Expected a number greater than 0.");
}

const EXAMPLES = `
Examples:
  spanline agents show http://127.0.0.1:4777
  spanline agents delegate https://agents.example "Review the release notes" --max-usd 2 --max-seconds 600`;
