import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let command: CommandLine;
let url = "";
beforeAll(async () => {
  command = await createCommandLine();
  const config = join(command.folder, "peer.json");
  const agents = { demo: { provider: { type: "demo" } } };
  writeFileSync(
    config,
    JSON.stringify({ agents, serve: { a2a: { name: "Peer", externalAgent: true } } }),
  );
  const args = [
    "serve",
    "--config",
    config,
    "--port",
    "0",
    "--json",
    "--data-dir",
    join(command.folder, "peer"),
  ];
  const server = command.start(args);
  ({ url } = JSON.parse(await waitForOutput(server.stdout, "}\n")));
});
afterAll(() => command.close());

/** Runs `agents delegate` against the peer, with the records of a test. */
function delegate(name: string, ...args: readonly string[]) {
  const directory = join(command.folder, name);
  return command.run(["agents", "delegate", url, "Hello there", "-d", directory, ...args]);
}

describe("spanline agents", () => {
  it("show prints the interfaces, the skills and the support for paid work", async () => {
    const { stdout, status } = await command.run(["agents", "show", url]);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Peer \d/);
    expect(stdout).toContain(`interface  JSONRPC 1.0  ${url}/a2a`);
    expect(stdout).toContain("skill      demo");
    expect(stdout).toContain("paid work  plan, then dispatch");
    const json = await command.run(["agents", "show", url, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ name: "Peer" });
  });

  it("delegate shows the plan and its hash, and pays once for the approved plan", async () => {
    const planned = await delegate("payer", "--max-tool-calls", "5");
    expect(planned.status).toBe(1);
    expect(planned.stdout).toContain('The agent "demo" works on the task');
    const [, hash = ""] = /--approve (\S+)/.exec(planned.stdout) ?? [];
    const other = await delegate("payer", "--max-tool-calls", "5", "--approve", "0");
    expect([other.status, other.stdout]).toEqual([
      1,
      expect.stringContaining("refused: The approval is for another plan"),
    ]);
    const done = await delegate("payer", "--max-tool-calls", "5", "--approve", hash);
    expect([done.status, done.stdout]).toEqual([0, expect.stringMatching(/^completed\n/)]);
    expect(done.stdout).toContain("0 tool calls");
    const again = await delegate("payer", "--max-tool-calls", "5");
    expect([again.status, again.stdout]).toEqual([
      0,
      expect.stringContaining("replayed (result of an earlier call: completed)"),
    ]);
    const json = await delegate("payer", "--max-tool-calls", "5", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      status: "replayed",
      schema: "harn.external_agent.handoff.v1",
    });
  });

  it.each([
    ["no budget", ["delegate", "URL", "Task"], 2, "expected --max-usd"],
    [
      "a budget of zero",
      ["delegate", "URL", "Task", "--max-usd", "0"],
      2,
      "Expected a number greater than 0",
    ],
    [
      "an address that is no URL",
      ["delegate", "peer", "Task", "--max-usd", "1"],
      2,
      '"peer" is not the address of an agent',
    ],
    [
      "a variable that is not set",
      ["show", "URL", "--key-env", "NO_SUCH_KEY"],
      2,
      "export NO_SUCH_KEY=",
    ],
    ["an agent that cannot be reached", ["show", "http://127.0.0.1:9"], 1, "cannot be reached"],
    ["an unknown option", ["show", "URL", "--jsn"], 2, 'did you mean "--json"?'],
  ] as const)("%s is refused with the next step", async (_, args, status, text) => {
    const named = args.map((arg) => (arg === "URL" ? url : arg));
    const directory = args[0] === "delegate" ? ["-d", join(command.folder, "refused")] : [];
    const result = await command.run(["agents", ...named, ...directory]);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toContain(text);
  });
});
