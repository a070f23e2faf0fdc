import { describe, expect, it } from "vitest";
import { startAcpServer, TOKEN } from "../support/acp/acp-server.ts";
import {
  connectLines,
  createSteeringWorld,
  looks,
  openSession,
  startToolTurn,
  submit,
} from "../support/acp/steering-world.ts";
import { says } from "../support/session/scripted-provider.ts";
import { readUntil } from "../support/session/session-world.ts";

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

  it("A caller compacts a session with a command, and invalid options are refused [B-039]", async () => {
    const compaction = { strategy: "truncate", keepLast: 2 } as const;
    const { sessions, connectHost } = createSteeringWorld(
      connectLines,
      [says("A0"), says("A1"), says("A2")],
      { compaction },
    );
    const { url } = await startAcpServer(sessions);
    const host = await connectHost();
    const sessionId = await openSession(host);
    for (const text of ["Q0", "Q1"]) await submit(host, sessionId, text);
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const send = (body: object) =>
      fetch(`${url}/api/sessions/${sessionId}/commands`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
    expect((await send({ type: "compact", strategy: "forget" })).status).toBe(400);
    const response = await send({ type: "compact" });
    const { compactionId } = JSON.parse(await response.text());
    expect(compactionId).toMatch(/^compact_/);
    await readUntil(sessions, sessionId, ({ event }) => event.type === "transcript.compacted");
    const archive = await fetch(
      `${url}/api/sessions/${sessionId}/blobs/blob_${String(compactionId)}`,
      { headers },
    );
    expect(archive.status).toBe(200);
    expect(await archive.text()).toContain("A0");
    const exported = await fetch(`${url}/api/sessions/${sessionId}/export`, { headers });
    const log = await exported.text();
    for (const text of ["Q0", "A0", "Q1", "A1"]) expect(log).toContain(`"${text}"`);
  });
});
