import { Option, type Command } from "commander";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import type { PolicyCheckFlags } from "./run-policy-check.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** Declares `spanline policy`. The command loads the rest of its code only when run, so printing the help stays fast. */
export function addPolicyCommand(spanline: Command, execute: ExecuteCommand): void {
  const policy = spanline.command("policy").description("check tool calls against a policy");
  policy
    .command("check")
    .description("print the decision about a tool call and its reason; nothing runs")
    .argument("<tool>", "name of the tool")
    .argument("[arguments]", "arguments as a JSON object", "{}")
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("--agent <name>", "agent of the configuration (default: the first)")
    .addOption(
      new Option("--policy <file>", "policy file, checked with the workspace tools").conflicts([
        "config",
        "agent",
      ]),
    )
    .option("--cwd <folder>", "workspace folder named by a client (default: the agent's folder)")
    .option("-d, --data-dir <folder>", "data directory, a protected path")
    .option("--json", "print the receipt as JSON")
    .addHelpText("after", EXAMPLES)
    .action((tool: string, input: string, flags: PolicyCheckFlags) =>
      execute(async (io) => {
        const { runPolicyCheck } = await import("./run-policy-check.ts");
        return runPolicyCheck(tool, input, { ...flags, io });
      }),
    );
}

const EXAMPLES = `
Examples:
  spanline policy check edit_file '{"path":"src/../.env","old_text":"1","new_text":"2"}'
  spanline policy check run_command '{"command":"npm test && git push"}' --agent coder
  spanline policy check write_file '{"path":"notes.md","content":"Milk"}' --policy policy.yaml

Paths are resolved on the current disk. To find a tool outside the workspace tools, the tool files of the configuration
are loaded, or the MCP server named by the tool's prefix is connected. This requires a configuration that you trust or
name with --config; otherwise the tool is unknown, and rules assume the worst.

Exit codes: 0 allowed, 3 needs an approval, 4 denied, 2 invalid command line or policy.`;
