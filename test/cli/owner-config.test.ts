import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

let projects = 0;

/** Creates a folder with a configuration. Its agents are never invoked. */
function project(...agents: readonly string[]) {
  projects += 1;
  const root = join(command.folder, `project-${projects}`);
  mkdirSync(root);
  const config = join(root, "spanline.config.json");
  const write = (...names: readonly string[]): void => {
    const entries = names.map((name) => [
      name,
      { provider: { type: "local", model: "ollama:none" } },
    ]);
    writeFileSync(config, JSON.stringify({ agents: Object.fromEntries(entries) }));
  };
  write(...agents);
  return { root, config, write, data: join(root, "data") };
}

/** Starts `up` and waits until its address is printed. */
async function up(workingDirectory: string, data: string, ...args: readonly string[]) {
  const commandArguments = ["up", "--port", "0", "--data-dir", data, ...args];
  const child = command.start(commandArguments, { workingDirectory });
  onTestFinished(() => void child.kill("SIGKILL"));
  let notes = "";
  child.stderr.on("data", (piece) => (notes += String(piece)));
  const output = await waitForOutput(child.stdout, args.includes("--json") ? "}\n" : "Ctrl-C");
  return { child, output, notes: () => notes };
}

describe("A process that joins the owner of a data directory", () => {
  it("The same configuration in both processes causes no warning", async () => {
    const { root, config, data } = project("one", "two");
    await up(root, data);
    const joined = await up(root, data, "--config", config, "--json");
    expect(joined.notes()).toBe("");
    expect(JSON.parse(joined.output)).toMatchObject({
      isOwner: false,
      config,
      agents: ["one", "two"],
    });
  });

  it("A different configuration named with --config is refused with a fix", async () => {
    const owner = project("one");
    const { child } = await up(owner.root, owner.data);
    const other = project("two");
    const args = ["up", "--port", "0", "--data-dir", owner.data, "--config", other.config];
    const { status, stdout, stderr } = await command.run(args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toBe(
      `Process ${child.pid} runs the sessions with ${owner.config}, not with ${other.config}. Fix: end that process, or choose another --data-dir\n`,
    );
  });

  it("A configuration changed since the owner's start is refused", async () => {
    const { root, config, data, write } = project("one");
    await up(root, data);
    write("one", "two");
    const args = ["up", "--port", "0", "--data-dir", data, "--config", config];
    const { status, stderr } = await command.run(args);
    expect([status, stderr]).toEqual([2, expect.stringContaining("an older version of")]);
  });

  it("A different configuration that was only found causes a one-line warning", async () => {
    const { data } = project("one");
    await up(command.folder, data);
    const other = project("two");
    const joined = await up(other.root, data, "--json");
    await eventually(() =>
      expect(joined.notes()).toMatch(
        /^Process \d+ runs the sessions without a configuration, not with .*spanline.config.json\. Fix: end that process to use this file, or choose another --data-dir\n$/,
      ),
    );
    expect(JSON.parse(joined.output)).toMatchObject({ config: null, agents: ["demo"] });
  });

  it("An editor receives the refusal, too", async () => {
    const owner = project("one");
    await up(owner.root, owner.data);
    const other = project("two");
    const requests = [
      { id: 0, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } },
      { id: 1, method: "session/new", params: { cwd: other.root, mcpServers: [] } },
    ];
    const input = requests.map((one) => `${JSON.stringify({ jsonrpc: "2.0", ...one })}\n`).join("");
    const args = ["acp", "--data-dir", owner.data, "--config", other.config];
    const { stdout } = await command.run(args, { input });
    expect(stdout).toContain(", not with");
  });
});

describe("spanline up with a configuration", () => {
  it("up prints the agents and their configuration", async () => {
    const { root, config, data } = project("one", "two");
    const { output } = await up(root, data);
    expect(output).toContain(
      `The agent of the session is one; other agents: two. Agents come from ${config}.`,
    );
    expect(output).not.toContain("Saving a note");
  });

  it("up does not open a session of an agent that no longer exists", async () => {
    const { root, data } = project("one");
    const first = await up(command.folder, data, "--json");
    first.child.kill("SIGKILL");
    const { output } = await up(root, data);
    expect(output).toContain("The agent of the session is one.");
  });
});
