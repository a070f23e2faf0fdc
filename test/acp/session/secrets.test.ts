import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLineClient } from "../../support/acp/acp-client.ts";
import { createAcpProject } from "../../support/acp/acp-project.ts";
import { createCommandLine, type CommandLine } from "../../support/command-line.ts";
import {
  says,
  wants,
  type ModelServerRequest,
  type ScriptedResponse,
} from "../../support/server/model-server.ts";
import { startPeer } from "../../support/server/scripted-peer.ts";

let command: CommandLine;
beforeAll(async () => {
  command = await createCommandLine();
});
afterAll(() => command.close());

const SECRETS = {
  crashing: "mcp-env-of-the-one-that-crashes",
  talking: "mcp-env-of-the-one-that-talks",
  header: "mcp-header-of-the-address",
  attach: "attach-secret-of-the-client",
  key: "sk-the-key-of-the-model",
};

/** A server that reveals its secret wherever possible: in its log, its tools, its results and its errors. */
const TALKER = `
import { createInterface } from "node:readline";
const secret = process.env.API_KEY;
console.error("I was given " + secret);
const send = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...result }));
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize") send(id, { result: {
    protocolVersion: params.protocolVersion, capabilities: { tools: {} },
    serverInfo: { name: secret, version: "1" }, instructions: secret } });
  if (method === "tools/list") send(id, { result: { tools: [
    { name: "leak", description: "Knows " + secret, inputSchema: { type: "object" } },
    { name: "fail", description: "Fails", inputSchema: { type: "object" } } ] } });
  if (method === "tools/call" && params.name === "leak")
    send(id, { result: { content: [{ type: "text", text: "It is " + secret }] } });
  if (method === "tools/call" && params.name === "fail")
    send(id, { error: { code: -32000, message: "Wrong key: " + secret, data: { secret } } });
});
`;

const CRASHER = `
console.error("I have " + process.env.API_KEY);
console.log("no JSON: " + process.env.API_KEY);
process.exit(1);
`;

/** A model server whose error repeats the received headers. */
const echoes: ScriptedResponse = () => (response, request) => {
  response.writeHead(401, { "content-type": "application/json" });
  const message = `Wrong key: ${request.headers.authorization}`;
  response.end(JSON.stringify({ error: { type: "invalid_api_key", message } }));
};

function answers({ messages }: ModelServerRequest): ScriptedResponse {
  const last = messages.at(-1);
  const modelInput = JSON.stringify(last?.content);
  if (last?.role === "tool") return says("Well.");
  if (modelInput.includes("refuse")) return echoes;
  const name = modelInput.includes("leak") ? "talking__leak" : "talking__fail";
  return wants({ id: "c", name, input: {} });
}

function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");
}

describe("Secrets of clients and the configuration", () => {
  it("No secret is sent, logged or stored, whatever fails [ACP-37]", async () => {
    const world = await createAcpProject(command, { approvals: { allow: ["*"] } }, answers);
    world.environment["OPENAI_API_KEY"] = SECRETS.key;
    const talker = join(world.project, "../talker.mjs");
    const crasher = join(world.project, "../crasher.mjs");
    writeFileSync(talker, TALKER);
    writeFileSync(crasher, CRASHER);
    const web = await startPeer((response, request) => {
      response.writeHead(401, {
        "www-authenticate": `Bearer error="${String(request.headers["x-key"])}"`,
      });
      response.end(JSON.stringify(request.headers));
    });
    const program = (name: string, file: string, value: string) => ({
      name,
      command: process.execPath,
      args: [file],
      env: [{ name: "API_KEY", value }],
    });
    const mcpServers = [
      program("crashing", crasher, SECRETS.crashing),
      program("talking", talker, SECRETS.talking),
      {
        type: "http",
        name: "web",
        url: web.url,
        headers: [{ name: "x-key", value: SECRETS.header }],
      },
    ];
    const child = world.spawn("--verbose");
    let seen = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      seen += text;
    });
    child.stdout.on("data", (text: string) => {
      seen += text;
    });
    const client = createLineClient(child.stdout, child.stdin);
    await client.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
    const setup = { cwd: world.project, mcpServers };
    const { sessionId } = await client.requestResult("session/new", setup);
    const prompt = (text: string): Promise<unknown> =>
      client.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
    for (const text of ["leak", "fail", "refuse"]) await prompt(text);
    const harn = { attachSecret: SECRETS.attach };
    const attach = { sessionId, clientId: "tui", mode: "controller", _meta: { harn } };
    await client.request("session/attach", attach);
    await client.request("session/attach", { ...attach, mode: SECRETS.attach });
    const [first] = mcpServers;
    for (const wrong of [
      { ...first, env: SECRETS.crashing },
      { ...first, command: 7 },
    ]) {
      await client.request("session/load", { sessionId, cwd: world.project, mcpServers: [wrong] });
    }
    await client.request("session/load", { sessionId, ...setup });
    expect(world.model.requests.at(-1)?.headers.authorization).toContain(SECRETS.key);
    expect(web.requests[0]?.headers["x-key"]).toBe(SECRETS.header);
    expect(seen).toContain("talking__leak");
    child.stdin.end();
    await once(child, "exit");
    const storedText = everythingIn(world.data);
    expect(storedText).toContain("talking__leak");
    for (const [name, secret] of Object.entries(SECRETS)) {
      expect([name, seen.includes(secret), storedText.includes(secret)]).toEqual([
        name,
        false,
        false,
      ]);
    }
  });
});
