import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createCommandLine, waitForOutput, type CommandLine } from "../support/command-line.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

let projects = 0;

/** Creates a configuration with an MCP server which accepts connections and never responds. */
async function silentServer() {
  let called = (): void => undefined;
  const isCalled = new Promise<void>((resolve) => {
    called = resolve;
  });
  const server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    called();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  projects += 1;
  const root = join(command.folder, `silent-${projects}`);
  mkdirSync(root);
  const url = `http://127.0.0.1:${port}/mcp`;
  const mcpServers = { silent: { type: "http", url, connectTimeoutMs: 600_000 } };
  const provider = { type: "local", model: "ollama:none" };
  const agents = { coder: { provider, mcpServers } };
  const config = join(root, "spanline.config.json");
  writeFileSync(config, JSON.stringify({ agents }));
  const flags = ["--config", config, "--data-dir", join(root, "data")];
  return { isCalled, options: { workingDirectory: root }, flags };
}

describe("Ctrl-C while MCP servers are connecting", () => {
  it("Ctrl-C ends a run while MCP servers are connecting", async () => {
    const { isCalled, options, flags } = await silentServer();
    const child = command.start(["run", "Hi", ...flags], options);
    await isCalled;
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
  });

  it("Ctrl-C ends a starting bridge while MCP servers are connecting", async () => {
    const { isCalled, options, flags } = await silentServer();
    const child = command.start(["up", "--port", "0", ...flags], options);
    const notes: string[] = [];
    child.stderr.on("data", (piece) => notes.push(String(piece)));
    await isCalled;
    child.kill("SIGINT");
    expect(await once(child, "exit")).toEqual([130, null]);
    expect(notes.join("")).toBe("");
  });

  it("Ctrl-C ends a bridge while the MCP servers of a new session are connecting", async () => {
    const { isCalled, options, flags } = await silentServer();
    const started = command.start(["acp", ...flags], { ...options, isTerminal: true });
    const request = (id: number, method: string, params: object): void => {
      started.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    };
    request(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    await waitForOutput(started.stdout, "agentInfo");
    request(1, "session/new", { cwd: options.workingDirectory, mcpServers: [] });
    await isCalled;
    started.kill("SIGINT");
    expect(await once(started, "exit")).toEqual([0, null]);
  });
});
