import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkToolCall } from "../../src/bridge/policy-check/check-tool-call.ts";
import { startConfiguredAgents } from "../../src/bridge/configured/configured-agents.ts";
import { startDemoAgent } from "../../src/bridge/agent/demo-agent.ts";
import {
  isTrusted,
  trustConfig,
  readConfigVersion,
} from "../../src/config/trust/trusted-configs.ts";
import { loadConfiguredAgent } from "../../src/bridge/policy-check/policy-agent.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Agent } from "../../src/session/runtime/agent/agent.ts";
import { createSessions } from "../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { bundleProgram } from "../support/bundle-program.ts";
import { startPeer } from "../support/server/scripted-peer.ts";
import { PROMPT } from "../support/session/provider-session.ts";
import { ME } from "../support/session/session-world.ts";

const LOCAL = { type: "local", model: "ollama:none" };

/** A tool file that writes a marker file when it is loaded. */
const OWN_TOOLS = `
import { writeFileSync } from "node:fs";
import { join } from "node:path";
writeFileSync(join(import.meta.dirname, "loaded.txt"), "");
const spec = { name: "look", description: "Looks", schema: {}, idempotent: false, timeoutMs: 1 };
export default [{ spec, check: () => "word is missing", run: () => "" }];
`;

/** A folder with a configuration and a few files. */
function project(agents: object) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-project-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "src"));
  writeFileSync(join(folder, "src/mcp.mjs"), "// a server\n");
  writeFileSync(join(folder, "tools.mjs"), "export default [];\n");
  writeFileSync(join(folder, "own.mjs"), OWN_TOOLS);
  const file = join(folder, "spanline.config.json");
  const write = (changed: object): void => writeFileSync(file, JSON.stringify({ agents: changed }));
  write(agents);
  return { folder, file, write };
}

function surroundings(folder: string) {
  return {
    file: join(folder, "spanline.config.json"),
    directory: join(folder, ".data"),
    protectedFolders: [],
    clock: systemClock,
    environment: { PATH: process.env["PATH"] },
    version: "0",
    report: (error: unknown): void => expect(error).toBeUndefined(),
    notice: () => undefined,
    isTrusted: async () => true,
  };
}

async function agentsIn(folder: string): Promise<readonly Agent[]> {
  const { agents, close } = await startConfiguredAgents(surroundings(folder));
  onTestFinished(close);
  return agents;
}

it("An agent uses the configured timeout [OR-52]", async () => {
  const peer = await startPeer(() => {});
  const provider = { type: "local", model: "openai:any", limits: { firstEventSeconds: 0.05 } };
  const { folder } = project({ coder: { provider } });
  const environment = { OPENAI_BASE_URL: `${peer.url}/v1` };
  const { agents, close } = await startConfiguredAgents({ ...surroundings(folder), environment });
  onTestFinished(close);
  const { signal } = new AbortController();
  const session = agents[0]?.provider.open({});
  await expect(session?.invoke(PROMPT, { signal })).rejects.toMatchObject({
    code: "first_event_timeout",
    message: expect.stringContaining("0.05 s"),
  });
});

it("A policy may name the tools of the agent's settings, and any other unknown tool is reported", async () => {
  const settings = { provider: LOCAL, workers: true, runtimeTools: true, askUser: true };
  const auto_approve = ["delegate", "emit_artifact", "watch_files", "ask_user", "pay"];
  const { folder } = project({ coder: { ...settings, policy: { auto_approve } } });
  const notices: string[] = [];
  const notice = (line: string): void => void notices.push(line);
  const { close } = await startConfiguredAgents({ ...surroundings(folder), notice });
  onTestFinished(close);
  expect(notices).toEqual([
    expect.stringContaining('agents.coder.policy.auto_approve[4]: Tool "pay" does not exist'),
  ]);
});

function sessionsOf(agents: readonly Agent[]) {
  const sessions = createSessions({
    store: createMemoryStore(),
    agents,
    clock: systemClock,
    owner: "test",
    report: (error) => expect(error).toBeUndefined(),
  });
  onTestFinished(() => sessions.close());
  return sessions;
}

async function placeOf(agent: Agent | undefined, path: string, workingDirectory: string) {
  const paths = [{ argument: "path", input: path }];
  const { signal } = new AbortController();
  const call = { name: "write_file", input: { path }, paths, workingDirectory, signal };
  const found = await agent?.tools.get("write_file")?.examine?.(call);
  return found?.paths[0]?.location;
}

describe("Folder of a session", () => {
  it("The default is the root of the agent or the folder of the configuration", async () => {
    const { folder } = project({
      fixed: { provider: LOCAL, workspace: { root: "src" } },
      free: { provider: LOCAL, workspace: true },
    });
    const sessions = sessionsOf(await agentsIn(folder));
    const folderOf = async (agent: string) =>
      (await sessions.open({ agent, principal: ME })).workingDirectory;
    expect(await folderOf("fixed")).toBe(join(folder, "src"));
    expect(await folderOf("free")).toBe(folder);
  });

  it("A folder inside a fixed root opens the whole root, and a folder outside is rejected", async () => {
    const { folder } = project({ fixed: { provider: LOCAL, workspace: { root: "src" } } });
    mkdirSync(join(folder, "src/private"));
    symlinkSync("/etc", join(folder, "src/etc"));
    const agents = await agentsIn(folder);
    const sessions = sessionsOf(agents);
    const open = (workingDirectory: string) => sessions.open({ principal: ME, workingDirectory });
    expect((await open(join(folder, "src/private"))).workingDirectory).toBe(join(folder, "src"));
    for (const elsewhere of [folder, "/", join(folder, "src/etc"), join(folder, "srcs")]) {
      await expect(open(elsewhere)).rejects.toMatchObject({ code: "invalid_option" });
    }
    // A folder from an older log does not widen the workspace.
    expect(await placeOf(agents[0], "../tools.mjs", folder)).toBe("outside");
  });

  it("A fixed root must exist", async () => {
    const { folder } = project({ fixed: { provider: LOCAL, workspace: { root: "nowhere" } } });
    await expect(agentsIn(folder)).rejects.toThrow(/workspace.root is .*nowhere/);
  });
});

describe("Programs of MCP servers", () => {
  it("Program files of MCP servers inside the configuration folder are protected from tools", async () => {
    const server = { command: "node", args: ["--import=./src/loader.mjs", "src/mcp.mjs", "src"] };
    const { folder } = project({
      coder: {
        provider: LOCAL,
        workspace: true,
        mcpServers: { one: server, two: { command: "./src/run", args: ["-c", "sh src/a.sh; :"] } },
      },
    });
    for (const name of ["loader.mjs", "run", "a.sh"]) writeFileSync(join(folder, "src", name), "");
    const [agent] = await agentsIn(folder);
    const names = ["src/mcp.mjs", "src/loader.mjs", "src/run", "src/a.sh", "src/other.mjs"];
    const places = await Promise.all(names.map((name) => placeOf(agent, name, folder)));
    expect(places).toEqual(["protected", "protected", "protected", "protected", "inside"]);
  });
});

describe("Trust", () => {
  const AGENTS = {
    coder: {
      provider: LOCAL,
      tools: ["./tools.mjs"],
      mcpServers: { one: { command: "node", args: ["src/mcp.mjs"] } },
    },
  };

  it("Trust covers the files that the configuration names", async () => {
    const { folder, file } = project(AGENTS);
    const state = join(folder, ".state");
    const version = await readConfigVersion(file);
    expect(version).toMatchObject({
      files: [join(folder, "src/mcp.mjs"), join(folder, "tools.mjs")],
      commands: ["one: node src/mcp.mjs"],
    });
    await trustConfig(version, state);
    const trusted = async () => isTrusted(await readConfigVersion(file), state);
    expect(await trusted()).toBe(true);
    for (const name of ["tools.mjs", "src/mcp.mjs"]) {
      writeFileSync(join(folder, name), "export default []; // and something else\n");
      expect(await trusted()).toBe(false);
      await trustConfig(await readConfigVersion(file), state);
    }
    const { isTrusted: _, ...around } = surroundings(folder);
    const checkTrust = (digest: string) => isTrusted({ file, digest }, state);
    const { close } = await startConfiguredAgents({ ...around, isTrusted: checkTrust });
    await close();
    writeFileSync(join(folder, "src/mcp.mjs"), "// of the next pull\n");
    await expect(startConfiguredAgents({ ...around, isTrusted: checkTrust })).rejects.toMatchObject(
      {
        code: "access_denied",
      },
    );
  });

  it("Trust is stored for each version", async () => {
    const { folder, file, write } = project(AGENTS);
    const state = join(folder, ".state");
    await trustConfig(await readConfigVersion(file), state);
    write({ ...AGENTS, other: { provider: LOCAL } });
    expect(await isTrusted(await readConfigVersion(file), state)).toBe(false);
    await trustConfig(await readConfigVersion(file), state);
    write(AGENTS);
    expect(await isTrusted(await readConfigVersion(file), state)).toBe(true);
  });
});

describe("Demo agent in a configuration", () => {
  it("Several agents may use the demo provider, also in a separate run", async () => {
    const { folder } = project({
      one: { provider: { type: "demo" } },
      two: { provider: { type: "demo" } },
    });
    expect(await agentsIn(folder)).toHaveLength(2);
    const run = await startConfiguredAgents({ ...surroundings(folder), isSingleRun: true });
    onTestFinished(run.close);
    expect(run.agents).toHaveLength(2);
  });

  it("The demo agent equals the default demo agent unless it has tools or a policy", async () => {
    const { folder } = project({
      demo: { provider: { type: "demo" } },
      own: { provider: { type: "demo" }, tools: ["./tools.mjs"], onLost: "reseed" },
      ruled: { provider: { type: "demo" }, policy: { auto_approve: ["save_note"] } },
    });
    const [demo, own, ruled] = await agentsIn(folder);
    const without = await startDemoAgent(join(folder, ".other"), systemClock);
    onTestFinished(() => without.emulator.close());
    expect(demo?.spec).toEqual({ ...without.agent.spec, workspace: folder });
    expect(own?.spec).toMatchObject({ tools: [], approvals: { allow: [] }, onLost: "reseed" });
    expect(ruled?.spec).toMatchObject({
      tools: [{ name: "save_note" }, { name: "tell_time" }],
      approvals: { allow: [] },
      onLost: "continue",
    });
  });

  it("A single run saves notes in the data directory", async () => {
    const { folder } = project({ demo: { provider: { type: "demo" } } });
    const run = await startConfiguredAgents({ ...surroundings(folder), isSingleRun: true });
    onTestFinished(run.close);
    const context = { sessionId: "s", toolCallId: "t" };
    const [agent] = run.agents;
    const saved = await agent?.tools.get("save_note")?.run({ text: "milk" }, Object(context));
    expect(saved).toBe(`Saved in ${join(folder, ".data", "notes.txt")}`);
  });
});

describe("Policy check", () => {
  it("The check knows the tools of the demo agent and their decisions", async () => {
    const { call, notices } = await checked({ provider: { type: "demo" } }, "tell_time");
    expect([call.decision.action, call.isKnown, notices]).toEqual(["allow", true, []]);
    const policy = { auto_approve: ["save_note"] };
    const ruled = await checked({ provider: { type: "demo" }, policy }, "save_note");
    expect([ruled.call.decision.action, ruled.notices]).toEqual(["allow", []]);
  });

  it("The check knows the tools of a trusted configuration and its MCP servers", async () => {
    const policy = {
      rules: [{ deny: { mcp_server: "h" } }, { allow: { tool: ["look", "h__*"] } }],
    };
    const agent = { provider: LOCAL, workspace: true, policy, ...(await withOwnTools()) };
    const own = await checked(agent, "look");
    expect([own.call.decision.action, own.call.isKnown, own.call.problem, own.notices]).toEqual([
      "allow",
      true,
      "word is missing",
      [],
    ]);
    const served = await checked(agent, "h__echo");
    expect([served.call.decision.action, served.call.isKnown, served.notices]).toEqual([
      "deny",
      true,
      [],
    ]);
    expect(served.call.decision.context).toMatchObject({ mcpServer: "h", mcpTool: "echo" });
    const none = await checked(agent, "nothing");
    expect([none.call.isKnown, none.notices]).toEqual([false, []]);
  });

  it("The check runs no code of an untrusted configuration and explains why a tool is unknown", async () => {
    const agent = { provider: LOCAL, workspace: true, ...(await withOwnTools()) };
    const untrusted = async () => false;
    const formatNotice = (tool: string, where: string): string =>
      `agents.coder: ${tool} was not searched in ${where}, because this version of the configuration is not trusted. Fix: run \`spanline trust\`, or name the configuration with --config`;
    const own = await checked(agent, "look", untrusted);
    expect([own.call.isKnown, own.notices]).toEqual([
      false,
      [formatNotice("look", "its tool files")],
    ]);
    const served = await checked(agent, "h__echo", untrusted);
    expect(served.notices).toEqual([formatNotice("h__echo", "the MCP server h")]);
    expect(existsSync(join(own.folder, "loaded.txt"))).toBe(false);
    const read = await checked(agent, "read_file");
    expect([read.call.isKnown, existsSync(join(read.folder, "loaded.txt"))]).toEqual([true, false]);
  });

  it("The check reports tools that cannot be loaded or connected", async () => {
    const mcpServers = { gone: { command: "./nothing-here" } };
    const agent = { provider: LOCAL, tools: ["./broken.mjs"], mcpServers };
    const broken = await checked(agent, "look");
    expect(broken.notices).toEqual([
      "A session would not start: agents.coder: Cannot load ./broken.mjs: no such file",
    ]);
    const gone = await checked({ ...agent, tools: [] }, "gone__add");
    expect([gone.call.isKnown, gone.notices]).toEqual([
      false,
      [expect.stringContaining("The MCP server gone")],
    ]);
  });

  async function withOwnTools(): Promise<object> {
    const args = [await bundleProgram("hostile-server.ts")];
    return { tools: ["./own.mjs"], mcpServers: { h: { command: process.execPath, args } } };
  }

  async function checked(agent: object, tool = "read_file", isTrusted = async () => true) {
    const { folder, file } = project({ coder: agent });
    const notices: string[] = [];
    const { directory, clock, environment } = surroundings(folder);
    const judged = await loadConfiguredAgent(file, {
      root: "/nowhere",
      protectedFolders: [],
      notice: (line) => notices.push(line),
      tool,
      configContext: { directory, clock, environment, version: "1", isTrusted },
    });
    const call = await checkToolCall(judged, { name: tool, input: { path: "src/mcp.mjs" } });
    return { call, notices, judged, folder };
  }

  it("Paths are resolved in the agent's workspace, not in the current folder", async () => {
    const { call, notices, judged, folder } = await checked({ provider: LOCAL, workspace: true });
    expect(call.decision.context.paths).toMatchObject([{ hostPath: join(folder, "src/mcp.mjs") }]);
    expect([call.isKnown, notices]).toEqual([true, []]);
    const input = { path: "mcp.mjs" };
    const there = { name: "read_file", input, workingDirectory: join(folder, "src") };
    const { decision } = await checkToolCall(judged, there);
    expect(decision.context.paths).toMatchObject([
      { location: "inside", workspacePath: "mcp.mjs" },
    ]);
  });

  it("The check reports that an agent without a workspace has no workspace tools", async () => {
    const { call, notices } = await checked({ provider: LOCAL });
    expect(call.isKnown).toBe(false);
    expect(notices).toEqual([
      "agents.coder has no workspace, so the tool read_file does not exist",
    ]);
  });

  it("The check notes that a rule with two approvers cannot be met by one person", async () => {
    const rules = [{ ask: { tool: "read_file" }, approval: { approvers: 2 } }];
    const { call } = await checked({ provider: LOCAL, workspace: true, policy: { rules } });
    expect(call.note).toContain("one person");
  });

  it.each([
    [
      "a variable that is not set",
      { environment: { A_KEY: { env: "NOWHERE" } } },
      "NOWHERE is not set",
    ],
    ["an unknown model", { provider: { type: "local", model: "x:y" } }, "is not a valid model"],
    ["a missing root", { workspace: { root: "none" } }, "workspace.root is"],
    [
      "a server's secret that is not set",
      { mcpServers: { one: { command: "node", env: { A_TOKEN: { env: "NOWHERE" } } } } },
      "agents.coder.mcpServers.one.env.A_TOKEN has no value",
    ],
  ])("The check reports that %s prevents a session", async (_, agent, complaint) => {
    const { notices } = await checked({ provider: LOCAL, workspace: true, ...agent });
    expect(notices).toEqual([expect.stringContaining(complaint)]);
    expect(notices[0]).toContain("A session would not start: agents.coder.");
  });

  it("The check reports a missing sandbox if a sandbox is required", async () => {
    const path = process.env["PATH"];
    process.env["PATH"] = "/nowhere";
    onTestFinished(() => void (process.env["PATH"] = path));
    const { notices } = await checked({ provider: LOCAL, workspace: { requireSandbox: true } });
    expect(notices).toEqual([expect.stringContaining("workspace.requireSandbox is set")]);
  });
});
