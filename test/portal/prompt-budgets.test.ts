import { describe, expect, it } from "vitest";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import { connectLines, createSteeringWorld, LOCAL, looks } from "../support/acp/steering-world.ts";
import { says } from "../support/session/scripted-provider.ts";
import { readUntil } from "../support/session/session-world.ts";

async function startServer() {
  const answers = [looks, says("Done.")];
  const { sessions, gate, provider } = createSteeringWorld(connectLines, answers);
  gate.open();
  const { url } = await startAcpServer(sessions);
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const { sessionId } = await sessions.open({ principal: LOCAL });
  const post = async (path: string, body: object) => {
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(`${url}/api/sessions/${sessionId}/${path}`, request);
    return { status: response.status, text: await response.text() };
  };
  return { sessions, sessionId, provider, post };
}

describe("The budget of a prompt over /api", () => {
  it.each([
    ["prompt", {}],
    ["commands", { type: "prompt" }],
  ])(
    "A turn which reaches the budget of its prompt requests an approval (%s)",
    async (to, type) => {
      const { sessions, sessionId, provider, post } = await startServer();
      const budget = { invocations: 1 };
      expect((await post(to, { ...type, text: "Go", budget })).status).toBeLessThan(300);
      const log = await readUntil(
        sessions,
        sessionId,
        ({ event }) => event.type === "approval.requested",
      );
      expect(log.at(-1)?.event).toMatchObject({
        question: "budget",
        action: "This turn has used 1 of 1 invocation; continue with 1 more invocation?",
      });
      expect(provider.invocations).toHaveLength(1);
    },
  );

  it.each([
    ["a cap of zero", { tokens: 0 }, "budget.tokens"],
    ["an unknown unit", { apples: 1 }, "apples"],
    ["a list", [], "budget"],
  ])(
    "A budget with %s is refused with the reason, and no turn starts",
    async (_, budget, reason) => {
      const { provider, post } = await startServer();
      const refused = await post("prompt", { text: "Go", budget });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain(reason);
      expect(provider.invocations).toEqual([]);
    },
  );
});
