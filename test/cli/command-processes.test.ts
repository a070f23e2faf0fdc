import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

const root = join(import.meta.dirname, "../..");
const HARNESS = "arn:aws:bedrock-agentcore:us-east-1:123456789012:harness/demo-spanline00";
const CAPTURE = join(root, "examples/captures/support-turn.eventstream");
const REQUEST = JSON.stringify({ messages: [{ role: "user", content: "Hello!" }] });

const INITIALIZE = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: 1, clientCapabilities: {} },
})}\n`;

/** The commands that end by themselves: arguments, standard input, exit code and a part of the output. */
const ENDING: readonly (readonly [args: string[], input: string, status: number, part: string])[] =
  [
    [["acp"], INITIALIZE, 0, '"protocolVersion":1'],
    [["chat"], "Hello\n", 0, "I am the demo agent"],
    [["run", "Hello"], "", 0, "I am the demo agent"],
    [["test", "demo"], "", 0, "Successfully tested agent 'demo'."],
    [["infer", "--agent", "demo"], REQUEST, 0, "output"],
    [["sessions", "list"], "", 0, "demo"],
    [["policy", "check", "read_file", "{}", "--policy", "policy.yaml"], "", 4, "deny: The policy"],
    [["trust"], "", 0, "The configuration runs no code before a tool call."],
    [["keys", "list"], "", 0, "Z\n"],
    [["inspect", CAPTURE], "", 0, "assistant\n"],
    [["invoke", "--harness", HARNESS], "", 2, "The prompt is missing"],
    [["agents", "show", "nowhere"], "", 2, '"nowhere" is not the address of an agent'],
    [["harness", "list"], "", 2, "Fix: pass --region"],
  ];

/** Commands without an end of their own, ended by a signal. */
const SERVING = ["up", "serve", "emulate"];

describe("Commands in separate processes", () => {
  let command: CommandLine;
  beforeAll(async () => {
    command = await createCommandLine();
    writeFileSync(
      join(command.folder, "policy.yaml"),
      "rules:\n  - { match: true, action: deny }\n",
    );
    writeFileSync(join(command.folder, "spanline.config.yaml"), DEMO_CONFIG);
    return () => command.close();
  });

  it("Every command of the program is tested", () => {
    const tried = [...ENDING.map(([[name]]) => name), ...SERVING];
    expect(new Set(tried)).toEqual(new Set(COMMANDS.keys()));
  });

  it.each(ENDING)("The command %j exits without a signal", async (args, input, status, part) => {
    const result = await command.runProcess(args, { input });
    expect([result.status, result.stdout + result.stderr]).toEqual([
      status,
      expect.stringContaining(part),
    ]);
  });

  it.each(SERVING)("The command %j runs until a signal", async (name) => {
    const child = command.start([name, "--port", "0", "--json"]);
    await waitForOutput(child.stdout, "{");
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
});

const DEMO_CONFIG = "agents:\n  demo:\n    provider: { type: demo }\n";
