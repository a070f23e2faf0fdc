import { Option, type Command } from "commander";
import { CONFIG_DESCRIPTION } from "../shared/flags/config-description.ts";
import type { PolicyCheckFlags } from "./run-policy-check.ts";
import type { ExecuteCommand } from "../shared/execute-command.ts";

/** `spanline policy`. */
export function addPolicyCommand(spanline: Command, execute: ExecuteCommand): void {
  const policy = spanline.command("policy").description("what a policy says about calls of tools");
  policy
    .command("check")
    .description("say what would become of a call, and why; nothing is run")
    .argument("<tool>", "the name of the tool")
    .argument("[arguments]", "its arguments, as a JSON object", "{}")
    .option("-c, --config <file>", CONFIG_DESCRIPTION)
    .option("--agent <name>", "an agent of the configuration; the first when not given")
    .addOption(
      new Option(
        "--policy <file>",
        "a file with a policy alone, for the tools of the workspace",
      ).conflicts(["config", "agent"]),
    )
    .option("--cwd <folder>", "the folder that a client names; that of the agent when not given")
    .option("-d, --data-dir <folder>", "where sessions are kept, which no tool may touch")
    .option("--json", "the receipt as JSON")
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

Paths are looked up on the disk as they are now. To find a tool that is not one of the workspace, the tool files of the
configuration are loaded, or the MCP server that the name begins with is connected to. That needs a configuration that
you trust or name with --config; otherwise such a tool counts as unknown, and rules think the worst of it.

Exit codes: 0 allowed, 3 somebody would be asked, 4 denied, 2 the command line or the policy cannot be used.`;
