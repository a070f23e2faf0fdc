import { describe, expect, it, onTestFinished } from "vitest";
import type { Sessions } from "../../../src/session/sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { connectAcpClient, readText } from "../../support/acp/acp-client.ts";
import { createGate } from "../../support/gate.ts";
import { hangs, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

/** Sessions in which setting the client tools blocks once after `slow` is called, until `open` is called. */
function slowSessions() {
  const provider = createScriptedProvider([hangs("Well")]);
  const sessions = openSessions(createMemoryStore(), createAgent({ provider }));
  onTestFinished(() => sessions.close());
  const { entry, open, pass } = createGate();
  let isSlow = false;
  const slow: Sessions = {
    ...sessions,
    agents: sessions.agents,
    async setClientTools(...args) {
      if (isSlow) {
        isSlow = false;
        await pass();
      }
      return sessions.setClientTools(...args);
    },
  };
  return { sessions: slow, entered: entry, open, slow: () => void (isSlow = true) };
}

async function editor(sessions: Sessions) {
  const client = await connectAcpClient(sessions);
  // The client offers files, because setting client tools is the slow step.
  const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true } };
  await client.request("initialize", { protocolVersion: 1, clientCapabilities });
  return client;
}

describe("Slow session setup", () => {
  it("A slow setup does not delay another setup or a list request", async () => {
    const { sessions, slow, entered, open } = slowSessions();
    const client = await editor(sessions);
    slow();
    const first = client.requestResult("session/new", SETUP);
    await entered;
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const listed = await client.requestResult("session/list", {});
    expect(JSON.stringify(listed)).toContain(readText(sessionId));
    // A client receives no update of a session before its id [ACP-42].
    const notifiedSessions = new Set(client.messages.map(({ params }) => asSession(params)));
    expect([...notifiedSessions].filter((one) => one !== undefined)).toEqual([sessionId]);
    open();
    expect((await first)["sessionId"]).not.toBe(sessionId);
  });

  it("A slow fork does not delay its source session", async () => {
    const { sessions, slow, entered, open } = slowSessions();
    const client = await editor(sessions);
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const prompt = [{ type: "text", text: "Go" }];
    const answer = client.request("session/prompt", { sessionId, prompt });
    await client.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    slow();
    const fork = client.requestResult("session/fork", { sessionId, ...SETUP });
    await entered;
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    open();
    expect(readText((await fork)["sessionId"])).toMatch(/^ses_/);
  });
});

function asSession(params: unknown): unknown {
  return typeof params === "object" && params !== null && "sessionId" in params
    ? params.sessionId
    : undefined;
}
