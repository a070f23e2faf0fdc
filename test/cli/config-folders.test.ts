import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createCommandLine, type CommandLine } from "../support/command-line.ts";
import {
  says,
  startModelServer,
  wants,
  type ScriptedResponse,
} from "../support/server/model-server.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

/** Creates a project with a configuration, and a second folder as working directory. */
async function project(name: string, answers: readonly ScriptedResponse[], agent: object) {
  const model = await startModelServer("chat", answers);
  const root = join(command.folder, name);
  const elsewhere = join(command.folder, `${name}-elsewhere`);
  for (const folder of [join(root, "work/src"), elsewhere]) mkdirSync(folder, { recursive: true });
  onTestFinished(() => {
    for (const folder of [root, elsewhere]) rmSync(folder, { recursive: true, force: true });
  });
  const coder = {
    provider: { type: "local", model: "openai:scripted" },
    environment: { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: { env: "MY_KEY" } },
    ...agent,
  };
  const config = join(root, "spanline.config.json");
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const run = (args: readonly string[], workingDirectory = elsewhere) =>
    command.run([...args], {
      environment: { MY_KEY: "sk-test", XDG_STATE_HOME: join(root, ".state") },
      workingDirectory,
    });
  return { root, elsewhere, config, run };
}

describe("The workspace of a configured agent", () => {
  const write = { id: "c1", name: "write_file", input: { path: "a.txt", content: "here" } };

  it.each([
    ["its root", { root: "work" }, "work/a.txt"],
    ["the folder of the configuration", true, "a.txt"],
  ])("The workspace is %s, whatever the working directory", async (_, workspace, written) => {
    const { root, run, config } = await project("w", [wants(write), says("Done.")], { workspace });
    const { status } = await run(["run", "Write it", "--yes", "--config", config]);
    expect([status, readFileSync(join(root, written), "utf8")]).toEqual([0, "here"]);
    const input = JSON.stringify(write.input);
    const checked = await run(["policy", "check", "write_file", input, "-c", config, "--json"]);
    expect(JSON.parse(checked.stdout).decision.context.paths).toMatchObject([
      { hostPath: join(root, written) },
    ]);
  });
});

describe("The code of a configuration", () => {
  it("The error of an MCP server that does not start is printed over several lines", async () => {
    const mcpServers = { one: { command: "node", args: ["broken.mjs"] } };
    const { root, run, config } = await project("b", [says("Hello.")], { mcpServers });
    writeFileSync(join(root, "broken.mjs"), "throw new Error('no luck');\n");
    const { stderr } = await run(["run", "Hi", "--config", config]);
    expect(stderr).toMatch(/The MCP server one .*\n {2}/);
    expect(stderr).toContain("no luck");
    expect(stderr).not.toContain("\\u{a}");
  });

  it("trust prints the code of a configuration, and a change of the code ends the trust", async () => {
    const mcpServers = { one: { command: "node", args: ["server.mjs"] } };
    const { root, run } = await project("t", [says("Hello."), says("Hello.")], { mcpServers });
    writeFileSync(join(root, "server.mjs"), "process.exit(1);\n");
    const trusted = await run(["trust"], root);
    expect(trusted.stdout).toBe(
      `The configuration runs:\n  one: node server.mjs\n  ${root}/server.mjs\n${root}/spanline.config.json is trusted. The trust ends when the configuration or a listed file changes.\n`,
    );
    expect((await run(["run", "Hi"], root)).status).toBe(0);
    writeFileSync(join(root, "server.mjs"), "process.exit(2);\n");
    const changed = await run(["run", "Hi"], root);
    expect(changed.status).not.toBe(0);
    expect(changed.stderr).toContain("this version is not trusted");
  });

  it("Trust in a configuration with a missing tool file is refused with the path", async () => {
    const { root, run } = await project("m", [says("Hello.")], { tools: ["./tols.mjs"] });
    const { status, stdout, stderr } = await run(["trust"], root);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`${root}/tols.mjs does not exist. Fix: create the file`);
  });

  it.each([["trust"], ["policy check read_file {}"]])(
    "An invalid option is reported with the path of the configuration: %s",
    async (line) => {
      const { root, run, config } = await project("p", [], { wrkspace: true });
      const { status, stderr } = await run(line.split(" "), root);
      expect([
        status,
        stderr.startsWith(`${config}: Key "agents.coder.wrkspace" does not exist`),
      ]).toEqual([2, true]);
    },
  );
});
