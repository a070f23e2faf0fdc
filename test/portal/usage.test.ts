import { describe, expect, it } from "vitest";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import {
  connectLines,
  createSteeringWorld,
  openSession,
  submit,
} from "../support/acp/steering-world.ts";
import { says } from "../support/session/scripted-provider.ts";

const usage = {
  inputTokens: 300,
  outputTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 400,
};

describe("Tools over /api", () => {
  it("A caller reads how the rules treat each tool of a session", async () => {
    const { sessions, connectHost } = createSteeringWorld(connectLines, [says("Done.")], {
      approvals: { allow: [], ask: [], deny: ["look"], default: "ask" },
    });
    const { url } = await startAcpServer(sessions);
    const sessionId = await openSession(await connectHost());
    const read = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/api/sessions/${sessionId}/tools`, { headers });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    const tools = [
      { name: "look", description: "Does look", action: "deny", dependsOnArguments: false },
    ];
    expect(await read(TOKEN)).toEqual({ status: 200, body: { tools } });
    expect(await read("wrong")).toMatchObject({ status: 401 });
  });
});

describe("Usage over /api", () => {
  it("A caller reads the usage of a session and of the budgets it shares", async () => {
    const budgets = {
      turn: { toolCalls: 5 },
      session: { tokens: 1000 },
      principal: { tokens: 5000 },
      day: { invocations: 9 },
    };
    const { sessions, connectHost } = createSteeringWorld(
      connectLines,
      [says("Done.", { usage })],
      { budgets },
    );
    const { url } = await startAcpServer(sessions);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const read = async (id: string, token = TOKEN) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await fetch(`${url}/api/sessions/${id}/usage`, { headers });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    const before = await read(sessionId);
    expect(before).toMatchObject({ status: 200 });
    await submit(host, sessionId, "Go");
    const { signal } = new AbortController();
    for await (const { events } of sessions.subscribe(sessionId, undefined, signal))
      if (events.some(({ event }) => event.type === "budget.settled")) break;
    const { body } = await read(sessionId);
    const used = { tokens: 400, toolCalls: 0, invocations: 1, usd: 0 };
    const reservations = 0;
    const day = new Date().toISOString().slice(0, 10);
    expect(body).toMatchObject({
      usage: [
        { name: `turn ${sessionId}`, used, caps: budgets.turn, reservations },
        { name: `session ${sessionId}`, used, caps: budgets.session, reservations },
        { name: "principal demo local", used, caps: budgets.principal, reservations },
        { name: `day demo ${day}`, used, caps: budgets.day, reservations },
      ],
    });
    expect(body.usage).toHaveLength(4);
    expect(await read("ses_unknown")).toMatchObject({ status: 404 });
    expect(await read(sessionId, "wrong")).toMatchObject({ status: 401 });
  });
});
