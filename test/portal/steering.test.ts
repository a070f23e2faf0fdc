import { describe, expect, it } from "vitest";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import {
  connectLines,
  createSteeringWorld,
  looks,
  openSession,
  startToolTurn,
} from "../support/acp/steering-world.ts";
import { says } from "../support/session/scripted-provider.ts";

describe("Steering over /api", () => {
  it("A caller steers a running turn, lists and revokes messages, and a repeated command has one effect [ACP-117] [B-172] [B-175]", async () => {
    const { sessions, gate, provider, connectHost } = createSteeringWorld(connectLines, [
      looks,
      says("Done."),
    ]);
    const { url } = await startAcpServer(sessions);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const send = async (body: object, more: { readonly [name: string]: string } = {}) => {
      const response = await fetch(`${url}/api/sessions/${sessionId}/commands`, {
        method: "POST",
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    const key = { "idempotency-key": "inject-1" };
    const message = { type: "inject", text: "Use metric units" };
    const first = await send(message, key);
    expect(first).toMatchObject({ status: 200, body: { deliveredAs: "steer" } });
    expect(await send(message, key)).toEqual(first);
    const other = await send({ type: "inject", text: "Later", mode: "queue" });
    const reminded = await send({ type: "remind", reminder: { body: "Look again" } });
    const listed = await fetch(`${url}/api/sessions/${sessionId}/injections`, { headers });
    expect(await listed.json()).toMatchObject({
      pendingCount: 3,
      injections: [
        { messageId: first.body.messageId },
        { messageId: other.body.messageId },
        { reminderId: reminded.body.reminderId },
      ],
    });
    const { messageId } = other.body;
    expect(await send({ type: "revoke-inject", messageId })).toMatchObject({
      body: { injectionStatus: "revoked" },
    });
    const { reminderId } = reminded.body;
    expect(await send({ type: "revoke-reminder", reminderId })).toMatchObject({ status: 200 });
    gate.open();
    await turn;
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Use metric units"] });
    const late = await send({ type: "revoke-inject", messageId: first.body.messageId });
    expect(late.status).toBe(409);
    expect(JSON.stringify(late.body)).toContain("already_delivered");
    expect(await send({ type: "remind", reminder: { body: "" } })).toMatchObject({ status: 400 });
    expect(await send({ type: "inject", text: "x", mode: "soon" })).toMatchObject({ status: 400 });
  });
});
