import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { connectAcpClient, type AcpClient } from "../../support/acp/acp-client.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

async function client(): Promise<AcpClient> {
  const agents = ["first", "second"].map((name) =>
    createAgent({ name, provider: createScriptedProvider([says(`I am the ${name}`)]) }),
  );
  const sessions = createSessions({
    store: createMemoryStore(),
    agents,
    clock: systemClock,
    owner: "test",
  });
  onTestFinished(() => sessions.close());
  const connected = await connectAcpClient(sessions);
  await connected.request("initialize");
  return connected;
}

describe("Agent of a new session", () => {
  it.each([
    [{}, "first"],
    [{ agent: "second" }, "second"],
  ])("A new session with %j has the named agent or the first agent", async (harn, name) => {
    const editor = await client();
    const { sessionId } = await editor.requestResult("session/new", { ...SETUP, _meta: { harn } });
    const prompt = [{ type: "text", text: "Who?" }];
    await editor.requestResult("session/prompt", { sessionId, prompt });
    expect(JSON.stringify(editor.listUpdates())).toContain(`I am the ${name}`);
  });

  it.each([[""], [7]])("The agent name %j is rejected", async (agent) => {
    const editor = await client();
    const answer = await editor.request("session/new", { ...SETUP, _meta: { harn: { agent } } });
    expect(answer["error"]).toMatchObject({ code: -32602 });
  });

  it("An unknown agent is rejected with the known agents", async () => {
    const editor = await client();
    const harn = { agent: "third" };
    const answer = await editor.request("session/new", { ...SETUP, _meta: { harn } });
    expect(answer["error"]).toMatchObject({
      message: expect.stringContaining('expected "first" or "second"'),
    });
  });
});
