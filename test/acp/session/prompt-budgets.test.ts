import { describe, expect, it } from "vitest";
import { isObject, type JsonValue } from "../../../src/data/json.ts";
import { readText } from "../../support/acp/acp-client.ts";
import {
  createSteeringWorld,
  looks,
  openSession,
  TRANSPORTS,
} from "../../support/acp/steering-world.ts";
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
