import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../support/bundle-program.ts";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";
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

const POLICY = {
  auto_approve: ["read_file", "list_files", "search"],
  rules: [
    {
      id: "edits",
      action: "ask",
      match: { tool: ["write_file", "edit_file"] },
      reason: "It writes",
    },
    { id: "tests", allow: { tool: "run_command", command: "echo tested" } },
  ],
};

/** Creates a workspace with a configuration and a scripted model. */
async function workspace(answers: readonly ScriptedResponse[], agent: object = {}) {
  const model = await startModelServer("chat", answers);
  const root = join(command.folder, `work-${Math.round(model.url.length + performance.now())}`);
  mkdirSync(join(root, "src"), { recursive: true });
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  writeFileSync(join(root, "src/a.txt"), "one\ntwo\n");
  const coder = {
    provider: { type: "local", model: "openai:scripted" },
    workspace: true,
    policy: POLICY,
    environment: {
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: { env: "MY_KEY" },
    },
    ...agent,
  };
  const config = join(root, "spanline.config.json");
  writeFileSync(config, JSON.stringify({ agents: { coder } }));
  const environment = {
    MY_KEY: "sk-test-of-notes",
    PLACE_SECRET: "where-it-is-kept",
    XDG_STATE_HOME: join(root, ".state"),
  };
  const run = (...args: readonly string[]) =>
    command.run([...args, "--config", config, "--data-dir", join(root, ".data")], {
      environment,
      workingDirectory: root,
    });
  return { root, run, model, config, environment };
}

describe("An agent of a configuration", () => {
  it("An approved edit changes the file, and the model receives its result", async () => {
    const edit = { path: "src/a.txt", old_text: "two", new_text: "2" };
    const { root, run, model } = await workspace([
      wants({ id: "c1", name: "edit_file", input: edit }),
      says("Done."),
    ]);
    const { stdout, status } = await run("run", "Change it", "--yes", "--json");
    expect(readFileSync(join(root, "src/a.txt"), "utf8")).toBe("one\n2\n");
    expect(status).toBe(0);
    expect(JSON.stringify(model.modelRequests.at(-1))).toContain("a.txt");
    const events = stdout
      .trim()
      .split("\n")
      .map((line): { type: string; [name: string]: unknown } => JSON.parse(line).event);
    const of = (type: string) => events.find((event) => event.type === type);
    expect(of("tool_call.paths_resolved")).toMatchObject({
      paths: [{ location: "inside", workspacePath: "src/a.txt" }],
      diffs: [{ path: "src/a.txt", oldText: "one\ntwo\n", newText: "one\n2\n" }],
    });
    expect(of("policy.decided")).toMatchObject({
      decision: { action: "ask", rule: { id: "edits" } },
    });
    expect(of("tool.finished")).toMatchObject({
      ending: "succeeded",
      attachments: { undo: [{ path: "src/a.txt", existed: true }] },
    });
    // The log must not contain the secret.
    expect(stdout).not.toContain("sk-test");
  });

  it("An agent in YAML reaches a model server without a key by baseUrl", async () => {
    const { root, model, environment } = await workspace([says("Hello from the local server")]);
    const file = join(root, "local.yaml");
    const provider = `{ type: local, model: "openai:qwen3", baseUrl: "${model.url}/v1" }`;
    writeFileSync(file, `agents:\n  helper:\n    provider: ${provider}\n`);
    const run = await command.run(
      ["run", "Hi", "--config", file, "--data-dir", join(root, ".data")],
      { environment: { ...environment, OPENAI_API_KEY: "" }, workingDirectory: root },
    );
    expect(run).toMatchObject({ status: 0, stdout: "Hello from the local server\n" });
  });

  it("A failure that an MCP tool returns is printed without a stack trace", async () => {
    const program = await bundleProgram("hostile-server.ts");
    const { run } = await workspace(
      [wants({ id: "c1", name: "h__error", input: {} }), says("Done.")],
      {
        mcpServers: { h: { command: process.execPath, args: [program] } },
      },
    );
    const { stderr } = await run("run", "Fail", "--yes");
    expect(stderr).toContain("No such row");
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr).not.toContain("Error: ");
  });

  it("A secret of an MCP server is masked for the model and in the log", async () => {
    const program = await bundleProgram("hostile-server.ts");
    const env = { PLACE: { env: "PLACE_SECRET" }, LOG_LEVEL: "verbose" };
    const { run, model } = await workspace(
      [wants({ id: "c1", name: "h__surroundings", input: {} }), says("Done.")],
      { mcpServers: { h: { command: process.execPath, args: [program], env } } },
    );
    const { stdout, status } = await run("run", "Look around", "--yes", "--json");
    expect(status).toBe(0);
    const modelInput = JSON.stringify(model.modelRequests.at(-1));
    expect(modelInput).toContain("verbose");
    expect(modelInput).toContain("[redacted]");
    // `stdout` is the whole log.
    for (const text of [modelInput, stdout]) expect(text).not.toContain("where-it-is-kept");
  });

  it.each([
    ["plain", { NO_COLOR: "1" }],
    ["in color", { TERM: "xterm" }],
  ])(
    "An approval in the terminal shows the diff, the prompt and the risk of the rule, %s",
    async (_, more) => {
      const edit = { path: "src/a.txt", old_text: "two", new_text: "2" };
      const answers = [wants({ id: "c1", name: "edit_file", input: edit }), says("Done.")];
      const approval = { prompt: "Look at the diff first", risk: "high" };
      const policy = { rules: [{ ask: { tool: "edit_file" }, approval }] };
      const { root, config, environment } = await workspace(answers, { policy });
      const child = command.start(
        ["run", "Change it", "--config", config, "--data-dir", join(root, ".data")],
        { environment: { ...environment, ...more }, workingDirectory: root, isTerminal: true },
      );
      const output = await waitForOutput(child.stderr, "[y/N]");
      expect(output.includes("\u001b[32m")).toBe("TERM" in more);
      expect(stripVTControlCharacters(output)).toContain(
        "  Look at the diff first\n  Risk: high\n  src/a.txt (from line 1)\n    one\n  - two\n  + 2\n",
      );
      child.stdin.write("y\n");
      await once(child, "exit");
      expect(readFileSync(join(root, "src/a.txt"), "utf8")).toBe("one\n2\n");
    },
  );

  it.each([
    ["through ..", "src/../../outside.txt"],
    ["by its absolute path", "/etc/passwd"],
    ["through a link", "src/link/outside.txt"],
    ["in the data directory", ".data/notes.txt"],
    ["that is the configuration", "spanline.config.json"],
    ["outside the allowlist", "other.txt"],
  ])("A file %s is never written, even with an approval [W-04]", async (_, path) => {
    const policy = { ...POLICY, write_path_allowlist: ["src/**"] };
    const answers = [
      wants({ id: "c1", name: "write_file", input: { path, content: "x" } }),
      says("I see."),
    ];
    const { root, run } = await workspace(answers, { policy });
    symlinkSync(command.folder, join(root, "src/link"));
    const before = readFileSync(join(root, "spanline.config.json"), "utf8");
    const { stdout } = await run("run", "Write it", "--yes", "--json");
    expect(stdout).toContain('"ending":"denied"');
    expect(readFileSync(join(root, "spanline.config.json"), "utf8")).toBe(before);
    const written = ["other.txt", ".data/notes.txt", "../outside.txt"].map((one) =>
      join(root, one),
    );
    expect(written.filter((one) => existsSync(one))).toEqual([]);
    expect(existsSync(join(command.folder, "outside.txt"))).toBe(false);
  });

  it.each([
    ["through ..", "src/../../outside.txt", "default_external_path"],
    ["in the data directory", ".data/notes.txt", "default_protected_path"],
    ["that is the configuration", "spanline.config.json", "default_protected_path"],
    [
      "that would become the nearest configuration",
      "src/spanline.config.yaml",
      "default_protected_path",
    ],
    ["that is code of the configuration", "tools.mjs", "default_protected_path"],
  ])("A file %s is never written, even without a rule", async (_, path, source) => {
    const answers = [
      wants({ id: "c1", name: "write_file", input: { path, content: "x" } }),
      says("I see."),
    ];
    const { root, run } = await workspace(answers, { tools: ["./tools.mjs"] });
    writeFileSync(join(root, "tools.mjs"), "export default [];");
    const { stdout } = await run("run", "Write it", "--yes", "--json");
    expect(stdout).toContain(`"source":"${source}"`);
    expect(stdout).toContain('"ending":"denied"');
  });

  it("A search finds nothing in unreadable files", async () => {
    const { root, run, model } = await workspace([
      wants({ id: "c1", name: "search", input: { pattern: "hunter2" } }),
      says("I see."),
    ]);
    writeFileSync(join(root, ".env"), "PASSWORD=hunter2\n");
    writeFileSync(join(root, "src/open.txt"), "not hunter2\n");
    await run("run", "Look", "--json");
    const modelInput = JSON.stringify(model.modelRequests.at(-1));
    expect(modelInput).toContain("src/open.txt");
    expect(modelInput).toContain("1 file may not be read here");
    expect(modelInput).not.toContain("PASSWORD");
  });

  it("An MCP server receives a header with a secret, and no output contains the secret", async () => {
    const receivedEnvironment: (string | undefined)[] = [];
    const server = createServer((request, answer) => {
      receivedEnvironment.push(request.headers.authorization);
      // The server quotes the header without its scheme, so masking must find the bare secret.
      answer.writeHead(500, { "content-type": "text/plain" });
      answer.end(`bad key ${String(request.headers.authorization).slice("Bearer ".length)}`);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    const headers = { Authorization: "Bearer ${NOTES_TOKEN}" };
    const { run } = await workspace([says("Hello.")], {
      mcpServers: { notes: { type: "http", url: `http://127.0.0.1:${port}/mcp`, headers } },
      environment: { NOTES_TOKEN: { env: "MY_KEY" } },
      provider: { type: "demo" },
    });
    const { stderr, stdout } = await run("run", "Hi", "--json");
    expect(new Set(receivedEnvironment)).toEqual(new Set(["Bearer sk-test-of-notes"]));
    expect(stderr).toContain("notes");
    expect(stdout + stderr).not.toContain("sk-test");
  });

  it("The code of a configuration runs only if the configuration is named or trusted", async () => {
    const { root, environment } = await workspace([says("Hello.")], { tools: ["./tools.mjs"] });
    writeFileSync(
      join(root, "tools.mjs"),
      'import { writeFileSync } from "node:fs"; writeFileSync("ran.txt", ""); export default [];',
    );
    const options = { environment, workingDirectory: root };
    const place = ["--data-dir", join(root, ".data")];
    const refused = await command.runProcess(["run", "Hi", ...place], options);
    expect(refused.stderr).toContain("spanline trust");
    expect((await command.runProcess(["policy", "check", "x"], options)).status).toBe(3);
    expect(existsSync(join(root, "ran.txt"))).toBe(false);
    expect((await command.runProcess(["trust"], options)).status).toBe(0);
    const trusted = await command.runProcess(["run", "Hi", ...place], options);
    expect(trusted.stdout).toContain("Hello.");
    expect(existsSync(join(root, "ran.txt"))).toBe(true);
  });

  it("Only the command allowed by a rule runs without an approval, and no secret is in its environment", async () => {
    const { run, model } = await workspace([
      wants({ id: "c1", name: "run_command", input: { command: "echo tested" } }),
      wants({ id: "c2", name: "run_command", input: { command: "echo tested; env" } }),
      says("Done."),
    ]);
    const { stdout } = await run("run", "Test it", "--no", "--json");
    expect(JSON.stringify(model.modelRequests[1])).toContain("tested");
    expect(stdout.match(/"approval.requested"/g)).toHaveLength(1);
    expect(stdout).not.toContain("sk-test");
  });
});

describe("An invalid configuration", () => {
  it.each<[what: string, agent: object, complaint: string]>([
    [
      "a misspelt option",
      { polcy: {} },
      'Key "agents.coder.polcy" does not exist. Fix: did you mean "policy"?',
    ],
    ["a misspelt matcher", { policy: { rules: [{ allow: { tol: "x" } }] } }, "tol"],
    ["an unknown provider", { provider: { type: "lokal" } }, "agents.coder.provider.type"],
    ["an unknown tool", { workspace: { tools: ["edit_fil"] } }, 'did you mean "edit_file"?'],
    [
      "a secret in plain text",
      { environment: { OPENAI_API_KEY: "sk-test" } },
      "looks like a secret",
    ],
    [
      "an unset secret",
      { environment: { OPENAI_API_KEY: { env: "NOWHERE" } } },
      "NOWHERE is not set",
    ],
    [
      "an unset secret of a server",
      {
        mcpServers: {
          one: { url: "http://x.test", headers: { Authorization: "Bearer ${NOWHERE}" } },
        },
      },
      "agents.coder.mcpServers.one.headers.Authorization has no value: the variable NOWHERE is not set",
    ],
    ["invalid caps", { caps: { steps: "many" } }, "agents.coder.caps.steps"],
    [
      "an approval list with an unknown tool",
      { policy: undefined, approvals: { allow: ["edit_fil"] } },
      'agents.coder: "edit_fil" is not a valid approvals.allow[0]: expected a pattern that matches a tool: ',
    ],
    [
      "an invalid model",
      { provider: { type: "local", model: "x" } },
      'agents.coder.provider: "x" is not a valid model',
    ],
    [
      "approval lists together with a policy",
      { approvals: { allow: ["*"] } },
      "expected only one of them",
    ],
    [
      "an MCP server without a command",
      { mcpServers: { one: { type: "stdio" } } },
      "mcpServers.one",
    ],
  ])("The error for %s names the place, and nothing starts", async (_, agent, complaint) => {
    const { run, model } = await workspace([says("No.")], agent);
    const { stderr, stdout, status } = await run("run", "Go");
    expect(stderr).toContain(complaint);
    expect(stderr).toContain("spanline.config.json");
    expect(stderr).not.toContain("sk-test");
    expect([stdout, model.modelRequests]).toEqual(["", []]);
    expect(status).not.toBe(0);
  });
});

describe("spanline policy check", () => {
  it.each([
    ["read_file", '{"path":"src/a.txt"}', 0, "auto_approve"],
    ["edit_file", '{"path":"src/a.txt","old_text":"a","new_text":"b"}', 3, "edits"],
    ["edit_file", '{"path":"../x","old_text":"a","new_text":"b"}', 4, "outside"],
    ["run_command", '{"command":"echo tested"}', 0, "tests"],
    ["run_command", '{"command":"echo tested && rm -rf /"}', 3, "ask"],
  ])("policy check of %s %s exits with %i", async (tool, input, status, word) => {
    const { run } = await workspace([]);
    const checked = await run("policy", "check", tool, input);
    expect([checked.status, checked.stderr]).toEqual([status, ""]);
    expect(checked.stdout).toContain(word);
  });

  it("A misspelled tool is refused with a suggestion, and nothing is checked", async () => {
    const { run } = await workspace([]);
    expect(await run("policy", "check", "reed_file", '{"path":"src/a.txt"}')).toEqual({
      status: 2,
      stdout: "",
      stderr:
        'Tool "reed_file" does not exist. Fix: did you mean "read_file"? Nothing was checked\n',
    });
    const { stdout } = await run("policy", "check", "send_invoice", "{}");
    expect(stdout).toMatch(/^The agent has no such tool: rules assume the worst\.\n/);
  });

  it("policy check reports misspelled tools of the policy, like a start", async () => {
    const policy = { auto_approve: ["reed_file", "notes__add"] };
    const mcpServers = { notes: { url: "http://127.0.0.1:1/mcp" } };
    const { run } = await workspace([says("Hello.")], { policy, mcpServers });
    const line =
      'agents.coder.policy.auto_approve[0]: Tool "reed_file" does not exist. Fix: did you mean "read_file"?\n';
    expect((await run("policy", "check", "read_file", '{"path":"a"}')).stderr).toBe(line);
    expect((await run("run", "Hi")).stderr).toContain(line);
  });

  it("The setting that would allow a path is shown to people, not to the model", async () => {
    const answers = [
      wants({ id: "c1", name: "read_file", input: { path: ".env" } }),
      says("I see."),
    ];
    const { run, model } = await workspace(answers);
    const checked = await run("policy", "check", "read_file", '{"path":".env"}');
    expect(checked.stdout).toContain("allowed by setting: allow_sensitive_paths");
    await run("run", "Read it");
    const modelInput = JSON.stringify(model.modelRequests.at(-1));
    expect(modelInput).toContain("which may contain secrets");
    expect(modelInput).not.toMatch(/allow_|external_/);
  });

  it("policy check prints the whole receipt as JSON, and refuses invalid arguments", async () => {
    const { run } = await workspace([]);
    const { stdout } = await run("policy", "check", "read_file", '{"path":".env"}', "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      isKnown: true,
      decision: { action: "deny", labels: expect.arrayContaining(["sensitive_path"]) },
    });
    const { status, stderr } = await run("policy", "check", "read_file", "[1]");
    expect([status, stderr]).toEqual([2, expect.stringContaining("JSON object")]);
    const unnamed = await run("policy", "check", "");
    expect([unnamed.status, unnamed.stderr]).toEqual([
      2,
      "The name of the tool is empty: expected a name, such as read_file\n",
    ]);
  });
});
