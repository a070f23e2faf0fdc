import { describe, expect, it } from "vitest";
import { isObject, type JsonObject, type JsonValue } from "../../../src/data/json.ts";
import type { ScopeUsage } from "../../../src/domain/budget.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { readText } from "../../support/acp/acp-client.ts";
import { startAcpServer, TOKEN } from "../../support/acp/acp-server.ts";
import { connectHttpPeer } from "../../support/acp/http-peer.ts";
import {
  connectLines,
  createSteeringWorld,
  looks,
  openSession,
  submit,
  TRANSPORTS,
} from "../../support/acp/steering-world.ts";
import { eventually } from "../../support/eventually.ts";
import { says } from "../../support/session/scripted-provider.ts";

/** The id of the option of a kind. */
function findOption(options: JsonValue | undefined, kind: string): string {
  const rows: readonly JsonValue[] = Array.isArray(options) ? options : [];
  const row = rows.find((option) => isObject(option) && option["kind"] === kind);
  return isObject(row) ? readText(row["optionId"]) : "";
}

describe.each(TRANSPORTS)("The budget of a prompt over %s", (_, connect) => {
  it.each([
    ["allow_once", "end_turn", 2],
    ["reject_once", "max_turn_requests", 1],
  ])(
    "A client that sets a budget is asked when its turn reaches it, and its decision %s counts",
    async (kind, stopReason, toolCalls) => {
      const { connectStock, gate, sessions } = createSteeringWorld(connect, [
        looks,
        looks,
        says("Done."),
      ]);
      gate.open();
      const client = await connectStock();
      const sessionId = await openSession(client);
      const answer = client.requestResult("session/prompt", {
        sessionId,
        prompt: [{ type: "text", text: "Go" }],
        _meta: { harn: { budget: { toolCalls: 1 } } },
      });
      const { id, params } = await client.waitForMessage(
        ({ method }) => method === "session/request_permission",
      );
      const { toolCall, options } = isObject(params) ? params : {};
      expect(toolCall).toMatchObject({
        title: "This turn has used 1 of 1 tool call; continue with 1 more tool call?",
      });
      expect((await sessions.readUsage(sessionId))[0]?.caps).toEqual({ toolCalls: 1 });
      const outcome = { outcome: "selected", optionId: findOption(options, kind) };
      client.send({ jsonrpc: "2.0", id, result: { outcome } });
      expect(await answer).toMatchObject({ stopReason });
      const [turn] = await sessions.readUsage(sessionId);
      expect(turn?.used.toolCalls).toBe(toolCalls);
    },
  );

  it("A budget that is not valid is refused, and no turn starts", async () => {
    const { connectStock, provider } = createSteeringWorld(connect, [says("Done.")]);
    const client = await connectStock();
    const sessionId = await openSession(client);
    for (const budget of [{ tokens: 0 }, { tokens: "many" }, { tokens: -1 }, { apples: 1 }, []]) {
      const answer = await client.request("session/prompt", {
        sessionId,
        prompt: [{ type: "text", text: "Go" }],
        _meta: { harn: { budget } },
      });
      expect(answer, JSON.stringify(budget)).toMatchObject({ error: { code: -32602 } });
    }
    expect(provider.invocations).toEqual([]);
  });
});

describe("A budget of a principal", () => {
  it("Prompts over stdio, WebSocket, HTTP, /api, /v1/responses and chat completions count against one budget", async () => {
    const { sessions, provider } = createSteeringWorld(connectLines, [says("Done.")], {
      budgets: { principal: { invocations: 6 } },
    });
    const server = await startAcpServer(sessions);
    const peers = [
      await connectLines(sessions, systemClock),
      await server.connect(),
      connectHttpPeer(server),
    ];
    for (const peer of peers) {
      await peer.requestResult("initialize", { protocolVersion: 1 });
      const answer = await submit(peer, await openSession(peer), "Go");
      expect(answer).toMatchObject({ stopReason: "end_turn" });
    }
    const post = async (path: string, body: object): Promise<JsonObject> => {
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const request = { method: "POST", headers, body: JSON.stringify(body) };
      const response = await fetch(server.url + path, request);
      const json: unknown = await response.json();
      expect([path, response.ok, json]).toEqual([path, true, expect.any(Object)]);
      return json as JsonObject;
    };
    const { sessionId } = await post("/api/sessions", {});
    const path = `/api/sessions/${readText(sessionId)}/prompt`;
    expect(await post(path, { text: "Go", wait: true })).toMatchObject({ outcome: "completed" });
    expect(await post("/v1/responses", { input: "Go" })).toMatchObject({ status: "completed" });
    await post("/v1/chat/completions", { messages: [{ role: "user", content: "Go" }] });
    const isPrincipal = ({ name }: ScopeUsage): boolean => name.startsWith("principal ");
    await eventually(async () => {
      const usage = (await sessions.readUsage(readText(sessionId))).filter(isPrincipal);
      expect(usage).toMatchObject([{ used: { invocations: 6 }, caps: { invocations: 6 } }]);
    });
    const [stdio] = peers;
    if (stdio === undefined) throw new Error("No client is connected");
    void submit(stdio, await openSession(stdio), "One more").catch(() => undefined);
    const { params } = await stdio.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    expect(isObject(params) && params["toolCall"]).toMatchObject({
      title: "This user has used 6 of 6 invocations; continue with 6 more invocations?",
    });
    expect(provider.invocations).toHaveLength(6);
  });
});
