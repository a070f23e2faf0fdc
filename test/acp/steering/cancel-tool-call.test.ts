import { describe, expect, it } from "vitest";
import { readText, type AcpPeer } from "../../support/acp/acp-client.ts";
import { startAcpServer, TOKEN } from "../../support/acp/acp-server.ts";
import {
  connectLines,
  createSteeringWorld,
  looks,
  openSession,
  readUpdate,
  startToolTurn,
  TRANSPORTS,
} from "../../support/acp/steering-world.ts";
import { says } from "../../support/session/scripted-provider.ts";

function readToolCallId({ messages }: Pick<AcpPeer, "messages">): string {
  const update = messages.map(readUpdate).find(({ status }) => status === "in_progress");
  return readText(update?.["toolCallId"]);
}

describe.each(TRANSPORTS)("session/cancel_tool_call over %s", (_, connect) => {
  it("A host cancels a running tool call, and the turn continues with the reason [R-005]", async () => {
    const { connectHost, provider } = createSteeringWorld(connect, [looks, says("Understood.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const callId = readToolCallId(host);
    const params = { sessionId, toolCallId: callId, reason: "Too slow" };
    expect(await host.requestResult("session/cancel_tool_call", params)).toEqual({
      status: "cancelled",
      callId,
      tool: "look",
    });
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain("Too slow");
    const ends = host.messages.map(readUpdate).filter(({ status }) => status === "failed");
    expect(ends).toMatchObject([{ toolCallId: callId }]);
    expect(await host.requestResult("session/cancel_tool_call", { sessionId, callId })).toEqual({
      status: "already_cancelled",
      callId,
      tool: "look",
    });
    const unknown = { sessionId, callId: "tool_unknown" };
    expect(await host.requestResult("_harn/session/cancel_tool_call", unknown)).toEqual({
      status: "not_found",
      callId: "tool_unknown",
      tool: null,
    });
  });

  it("An observer cannot cancel a tool call, and a failed notification is reported", async () => {
    const { connectHost, gate } = createSteeringWorld(connect, [looks, says("Done.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const observer = await connectHost();
    await observer.requestResult("session/attach", { sessionId, clientId: "o", mode: "observer" });
    const params = { sessionId, toolCallId: readToolCallId(host) };
    expect(await observer.request("session/cancel_tool_call", params)).toMatchObject({
      error: { data: { code: "access_denied" } },
    });
    observer.send({ jsonrpc: "2.0", method: "session/cancel_tool_call", params });
    const { params: report } = await observer.waitForMessage(
      ({ method }) => method === "_harn/agentEvent",
    );
    expect(report).toMatchObject({
      kind: "notification_failed",
      method: "session/cancel_tool_call",
    });
    for (const wrong of [{ sessionId }, { ...params, reason: 7 }])
      expect(await host.request("session/cancel_tool_call", wrong)).toMatchObject({
        error: { code: -32602 },
      });
    gate.open();
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
  });
});

describe("Cancelling a tool call over /api", () => {
  it("A caller cancels a running tool call of a session", async () => {
    const { sessions, connectHost, provider } = createSteeringWorld(connectLines, [
      looks,
      says("Understood."),
    ]);
    const { url } = await startAcpServer(sessions);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const toolCallId = readToolCallId(host);
    const response = await fetch(`${url}/api/sessions/${sessionId}/commands`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ type: "cancel-tool-call", toolCallId, reason: "Too slow" }),
    });
    expect([response.status, await response.json()]).toEqual([
      200,
      expect.objectContaining({ toolCallStatus: "cancelled", toolName: "look" }),
    ]);
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain("Too slow");
  });
});
