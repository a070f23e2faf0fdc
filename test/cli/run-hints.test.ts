import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
import { refuses, startModelServer } from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

let count = 0;

/** Creates a folder with an untrusted configuration. */
function folderWith(config: string): string {
  const root = join(command.folder, `hints-${(count += 1)}`);
  mkdirSync(root);
  writeFileSync(join(root, "spanline.config.yaml"), config);
  return root;
}

function runIn(root: string, ...args: readonly string[]) {
  return command.run([...args, "--data-dir", join(root, ".data")], {
    workingDirectory: root,
    environment: { XDG_STATE_HOME: join(root, ".state"), OPENAI_API_KEY: "sk-test" },
  });
}

/** Naming a configuration implies trust. */
const NAMED = ["--config", "spanline.config.yaml"];

const agent = (provider: string, more = "") => `agents: { one: { provider: ${provider}${more} } }`;

describe("The advice after a failed run", () => {
  it("An untrusted configuration with code is refused with the advice to trust it, and exit code 2", async () => {
    const root = folderWith(agent("{ type: demo }", ", tools: [./tools.mjs]"));
    const { status, stderr } = await runIn(root, "run", "Hi");
    expect([status, stderr.trimEnd().split("\n")]).toEqual([
      2,
      [expect.stringContaining("spanline trust")],
    ]);
  });

  it("spanline test refuses an untrusted configuration with the same advice, and no other", async () => {
    const root = folderWith(agent("{ type: demo }", ", tools: [./tools.mjs]"));
    const { status, stderr } = await runIn(root, "test");
    expect(status).toBe(2);
    expect(stderr.match(/Fix: [^,]*/g)).toEqual(["Fix: read the configuration and its files"]);
  });

  it("An unreachable model causes no advice about the emulator", async () => {
    const model =
      "{ type: local, model: 'openai:none' }, environment: { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' }";
    const { status, stderr } = await runIn(folderWith(agent(model)), "run", "Hi", ...NAMED);
    expect(status).toBe(1);
    expect(stderr).toContain("connect_failed: Cannot connect to 127.0.0.1:1");
    expect(stderr).not.toContain("emulate");
  });

  it("A denied access of a configured provider refers to the configuration", async () => {
    const { url } = await startModelServer("chat", [refuses(403)]);
    const model = `{ type: local, model: 'openai:none' }, environment: { OPENAI_BASE_URL: '${url}/v1' }`;
    const { stderr } = await runIn(folderWith(agent(model)), "run", "Hi", ...NAMED);
    expect(stderr).toContain("check the credentials of the agent's provider");
    expect(stderr).not.toContain("ARN");
  });

  it("An unreachable --endpoint-url causes the advice to start an emulator", async () => {
    const arn = "arn:aws:bedrock-agentcore:eu-central-1:123456789012:harness/demo-abcdefghij";
    const { stderr } = await command.run([
      "run",
      "--harness",
      arn,
      "--endpoint-url",
      "http://127.0.0.1:1",
      "Hi",
    ]);
    expect(stderr).toContain("`spanline emulate` starts an emulator");
  });

  it("Every misspelled option is named, and an array of agents is explained", async () => {
    const misspelt = folderWith(agent("{ type: demo }", ", polcy: {}, tols: []"));
    expect((await runIn(misspelt, "run", "Hi")).stderr).toMatch(
      /Key "agents\.one\.polcy" does not exist\. Fix: did you mean "policy"\?.*Key "agents\.one\.tols" does not exist\. Fix: did you mean "tools"\?/,
    );
    const list = folderWith("agents: [{ name: one, provider: { type: demo } }]");
    expect((await runIn(list, "run", "Hi")).stderr).toContain(
      "is not a valid agents: expected an object with each agent under its name",
    );
  });
});

it("`spanline trust` reports a missing file", async () => {
  const { status, stderr } = await command.run(["trust", "nope.yaml"]);
  expect([status, stderr]).toEqual([
    2,
    `Cannot use ${join(command.folder, "nope.yaml")}: no such file\n`,
  ]);
});

it("`spanline acp` in a terminal explains its purpose", async () => {
  const child = command.start(["acp"], { isTerminal: true });
  expect(await waitForOutput(child.stderr, "\n")).toContain("Agent Client Protocol with an editor");
  child.stdin.end();
  await once(child, "exit");
});

it("An unknown agent is reported also while a running bridge uses the folder of the demo agent", async () => {
  const place = ["--data-dir", join(command.folder, "beside")];
  const up = command.start(["up", "--port", "0", "--json", ...place]);
  await waitForOutput(up.stdout, "}\n");
  const { status, stderr } = await command.run(["run", "--agent", "nope", "Hi", ...place]);
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('Agent "nope" does not exist: expected "demo"'),
  ]);
  up.kill("SIGINT");
  await once(up, "exit");
});
