import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { bundleInto } from "../../support/bundle-program.ts";
import { createClientToolSessions } from "../../support/session/client-tool-sessions.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import { startExampleServer } from "../../support/mcp-example.ts";
import { eventually } from "../../support/eventually.ts";
import { expectGone, isAlive } from "../../support/processes.ts";
import { says, wants, type ProviderScript } from "../../support/session/scripted-provider.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "spanline-acp-mcp-")));
let program = "";

beforeAll(async () => {
  program = await bundleInto(folder, "hostile-server.ts");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SECRET = "sk-the-secret-of-the-client";

function server(name = "h", mode = "") {
  const env = [{ name: "API_KEY", value: SECRET }];
  return { name, command: process.execPath, args: [program, mode], env };
}

const setup = (...mcpServers: readonly object[]) => ({ cwd: folder, mcpServers });

/** Calls the server's tool for its process id in each turn. */
const PID: readonly ProviderScript[] = [wants({ id: "c1", name: "h__pid" }), says("Done.")];

async function begun(client: AcpClient, ...servers: readonly object[]): Promise<string> {
  await client.request("initialize", { clientCapabilities: { session: { notices: {} } } });
  const { sessionId } = await client.requestResult("session/new", setup(...servers));
  return readText(sessionId);
}

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

function errorOf({ error }: Message): Message {
  return isObject(error) ? error : {};
}

describe("MCP server of a client", () => {
  it("The server is started with its arguments and environment, and its tools are offered to the agent [ACP-44]", async () => {
    const world = createClientToolSessions([
      wants({ id: "c1", name: "h__surroundings" }),
      says("Done."),
    ]);
    const client = await connectAcpClient(world.sessions);
    const sessionId = await begun(client, server());
    expect(await world.listTools(sessionId)).toContain("h__surroundings");
    await client.requestResult("session/prompt", prompt(sessionId));
    const [result = ""] = await world.listResults(sessionId);
    expect(JSON.parse(result)).toMatchObject({ cwd: folder });
    // The server has the variable; the log must not contain its value.
    expect(result).toContain('"API_KEY"');
    expect(JSON.stringify(await world.readLog(sessionId))).not.toContain(SECRET);
    expect(client.notes).toEqual([]);
  });

  it("An HTTP server is connected as offered at initialize [ACP-45]", async () => {
    const { url } = await startExampleServer("simpleStatelessStreamableHttp");
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions);
    const { agentCapabilities } = await client.requestResult("initialize");
    expect(agentCapabilities).toMatchObject({ mcpCapabilities: { http: true, sse: false } });
    const headers = [{ name: "authorization", value: `Bearer ${SECRET}` }];
    const clientServer = { type: "http", name: "web", url, headers };
    const { sessionId } = await client.requestResult("session/new", setup(clientServer));
    expect(
      (await world.listTools(readText(sessionId))).some((name) => name.startsWith("web__")),
    ).toBe(true);
  });

  it("An invalid server is rejected without revealing its environment [ACP-45]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions);
    await client.request("initialize");
    const wrong: readonly unknown[] = [
      { type: "sse", name: "old", url: "http://127.0.0.1/", headers: [] },
      { ...server(), name: "" },
      { ...server(), command: 7 },
      { ...server(), env: { API_KEY: SECRET } },
      { type: "http", name: "web", url: "http://127.0.0.1/", headers: [{ name: SECRET }] },
      "h",
    ];
    for (const one of wrong) {
      const answer = await client.request("session/new", { cwd: folder, mcpServers: [one] });
      expect(errorOf(answer)["code"]).toBe(-32602);
      expect(JSON.stringify(answer)).not.toContain(SECRET);
    }
    expect((await world.sessions.list({ limit: 10 })).sessions).toEqual([]);
  });

  it("The server belongs to a single session [ACP-46]", async () => {
    const world = createClientToolSessions(PID);
    const client = await connectAcpClient(world.sessions);
    const one = await begun(client, server());
    const { sessionId } = await client.requestResult("session/new", setup());
    expect(await world.listTools(one)).toContain("h__pid");
    expect(await world.listTools(readText(sessionId))).toEqual([]);
  });

  it("A server that cannot start is reported, and the session and the other servers are available [ACP-47]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions);
    const missing = { ...server("missing"), command: join(folder, "nothing-here") };
    const sessionId = await begun(client, missing, server(), server("h"), {
      ...server("bad"),
      env: [{ name: "NOT A NAME", value: SECRET }],
    });
    expect(await world.listTools(sessionId)).toContain("h__pid");
    const diagnostics = (await world.readLog(sessionId)).flatMap(({ event }) =>
      event.type === "diagnostic.raised" ? [event.diagnostic] : [],
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(Array(3).fill("equipment_unusable"));
    const diagnosticText = diagnostics.map(({ message }) => message).join("\n");
    expect(diagnosticText).toContain("The MCP server missing");
    expect(diagnosticText).toContain("The MCP server h is ignored");
    expect(diagnosticText).toContain("NOT A NAME");
    expect(diagnosticText).not.toContain(SECRET);
    expect(client.notes).toHaveLength(3);
    await client.waitForMessage(({ params }) => {
      const messageText = JSON.stringify(params ?? {});
      return messageText.includes('"notice"') && messageText.includes("server missing");
    });
    expect(await client.requestResult("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
  });

  it("A server that does not respond delays its session by less than 30 seconds and other servers not at all [ACP-48]", async () => {
    const clock = createFakeClock();
    const world = createClientToolSessions([says("Hi")], { clock });
    const client = await connectAcpClient(world.sessions);
    const start = clock.monotonic();
    const begin = begun(client, server("slow", "silent"), server());
    await advanceUntil(clock, begin);
    expect(clock.monotonic() - start).toBeLessThan(30_000);
    const sessionId = await begin;
    expect(JSON.stringify(await world.readLog(sessionId))).toContain("slow is not connected yet");
    await eventually(async () => expect(await world.listTools(sessionId)).toContain("h__pid"));
  });

  it("The server exits when its client detaches or closes the session, and its tools are removed", async () => {
    const world = createClientToolSessions([...PID, says("Nothing."), ...PID]);
    const client = await connectAcpClient(world.sessions);
    const sessionId = await begun(client, server());
    await client.requestResult("session/prompt", prompt(sessionId));
    const [pid = ""] = await world.listResults(sessionId);
    expect(isAlive(Number(pid))).toBe(true);
    await client.requestResult("session/close", { sessionId });
    await expectGone(Number(pid));
    await eventually(async () => expect(await world.listTools(sessionId)).toEqual([]));
    const { sessionId: next } = await client.requestResult("session/new", setup(server()));
    expect(await world.listTools(readText(next))).toContain("h__pid");
    client.socket.end();
    await client.done;
    await eventually(async () => expect(await world.listTools(readText(next))).toEqual([]));
  });

  it("A load with the same list keeps the server and a load with another list replaces it", async () => {
    const world = createClientToolSessions([...PID, ...PID]);
    const client = await connectAcpClient(world.sessions);
    const sessionId = await begun(client, server());
    await client.requestResult("session/prompt", prompt(sessionId));
    await client.requestResult("session/load", { sessionId, ...setup(server()) });
    await client.requestResult("session/prompt", prompt(sessionId));
    const [first, second] = await world.listResults(sessionId);
    expect(first).toBe(second);
    await client.requestResult("session/resume", { sessionId, ...setup(server("other")) });
    await expectGone(Number(first));
    expect(await world.listTools(sessionId)).toContain("other__pid");
    expect(await world.listTools(sessionId)).not.toContain("h__pid");
    await client.requestResult("session/load", { sessionId, ...setup() });
    await eventually(async () => expect(await world.listTools(sessionId)).toEqual([]));
  });

  it("A client without the control right cannot add servers, and no session is created", async () => {
    const world = createClientToolSessions(PID);
    const client = await connectAcpClient(world.sessions, {
      principal: { id: "user", rights: ["prompt", "approve"] },
    });
    await client.request("initialize");
    const answer = await client.request("session/new", setup(server()));
    expect(errorOf(answer)).toMatchObject({ data: { code: "access_denied" } });
    expect(errorOf(answer)["message"]).toContain('the right "control"');
    expect((await world.sessions.list({ limit: 10 })).sessions).toEqual([]);
    const { sessionId } = await client.requestResult("session/new", setup());
    const from = { principal: { id: "user", rights: ["prompt"] }, clientId: "c" } as const;
    const one = { type: "stdio", name: "h", command: "x", args: [], env: {} } as const;
    const equipment = { servers: [one], tools: [] };
    expect(await world.sessions.setClientTools(readText(sessionId), equipment, from)).toMatchObject(
      {
        status: "refused",
        failure: { code: "access_denied" },
      },
    );
  });
});
