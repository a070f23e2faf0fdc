import { Readable, Writable } from "node:stream";
import {
  type Client,
  ClientSideConnection,
  ndJsonStream,
  type RequestPermissionOutcome,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Sessions } from "../../../src/session/sessions.ts";
import { serveOnSocket } from "../../support/acp/acp-client.ts";
import { createScriptedSessions } from "../../support/session/scripted-sessions.ts";
import {
  answeredEvents,
  askingTurn,
  busyTurn,
  echoTurn,
} from "../../support/acp/scripted-turns.ts";

type Update = SessionNotification["update"];

/** The official client for ACP v0.12.2 on a real socket. As a host, it receives vendor updates as agent events. */
async function sdkClient(
  sessions: Sessions,
  answer: (toolCallId: string) => Promise<RequestPermissionOutcome> = async () => ({
    outcome: "cancelled",
  }),
  isHost = false,
): Promise<{
  agent: ClientSideConnection;
  updates: Update[];
  permissionTitles: string[];
  events: object[];
}> {
  const { socket } = await serveOnSocket(sessions);
  const updates: Update[] = [];
  const permissionTitles: string[] = [];
  const events: object[] = [];
  const client: Client = {
    async sessionUpdate({ update }) {
      updates.push(update);
    },
    async requestPermission({ toolCall }) {
      permissionTitles.push(toolCall.toolCallId);
      return { outcome: await answer(toolCall.toolCallId) };
    },
    // Without this handler the client logs an error for every unknown notification.
    ...(isHost && {
      async extNotification(method: string, params: object) {
        if (method === "_harn/agentEvent") events.push(params);
      },
    }),
  };
  const stream = ndJsonStream(Writable.toWeb(socket), Readable.toWeb(socket) as ReadableStream);
  const agent = new ClientSideConnection(() => client, stream);
  await agent.initialize({
    protocolVersion: 1,
    clientInfo: { name: "sdk", version: "0.20.0" },
    ...(isHost && { clientCapabilities: { _meta: { harn: { agentEvents: true } } } }),
  });
  return { agent, updates, permissionTitles, events };
}

function texts(updates: readonly Update[]): string[] {
  return updates.flatMap((update) =>
    "content" in update &&
    update.content !== null &&
    update.content !== undefined &&
    !Array.isArray(update.content) &&
    update.content.type === "text"
      ? [`${update.sessionUpdate}: ${update.content.text}`]
      : [],
  );
}

describe("Official ACP client", () => {
  it("The client sends a prompt and receives its updates", async () => {
    const { agent, updates } = await sdkClient(createScriptedSessions({ turn: echoTurn }));
    const { sessionId } = await agent.newSession({ cwd: "/work", mcpServers: [] });
    const prompt = [{ type: "text" as const, text: "hello" }];
    expect(await agent.prompt({ sessionId, prompt })).toEqual({ stopReason: "end_turn" });
    expect(texts(updates)).toEqual([
      "agent_message_chunk: You said: ",
      "agent_message_chunk: hello",
    ]);
  });

  it("The client approves a tool", async () => {
    const sessions = createScriptedSessions({ turn: askingTurn });
    const { agent, updates, permissionTitles } = await sdkClient(sessions, async () => ({
      outcome: "selected",
      optionId: "allow",
    }));
    const { sessionId } = await agent.newSession({ cwd: "/work", mcpServers: [] });
    const answer = agent.prompt({ sessionId, prompt: [{ type: "text", text: "delete a" }] });
    const { decision } = await sessions.waitForCommand("decide-approval");
    expect(decision).toBe("allow");
    const turnId = sessions.readTurnId(sessionId) ?? "";
    sessions.say(sessionId, ...answeredEvents(turnId, decision ?? ""));
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(permissionTitles).toEqual([`tool_${turnId}`]);
    expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "available_commands_update",
      "session_info_update",
      "tool_call",
      "tool_call_update",
      "tool_call_update",
    ]);
  });

  it.each([
    ["as a stock client", false],
    ["as a host with agent events", true],
  ])(
    "A turn with every kind of event causes no error in the client, %s [ACP-127] [ACP-128] [W-24]",
    async (_, isHost) => {
      const complaint = vi.spyOn(console, "error");
      onTestFinished(() => complaint.mockRestore());
      const sessions = createScriptedSessions({ turn: busyTurn });
      const { agent, updates, events } = await sdkClient(sessions, undefined, isHost);
      const { sessionId } = await agent.newSession({ cwd: "/work", mcpServers: [] });
      const other = await sdkClient(sessions);
      await other.agent.loadSession({ sessionId, cwd: "/work", mcpServers: [] });
      const prompt = [{ type: "text" as const, text: "go" }];
      expect(await agent.prompt({ sessionId, prompt })).toEqual({ stopReason: "end_turn" });
      expect(new Set(updates.map(({ sessionUpdate }) => sessionUpdate))).toEqual(
        new Set([
          "available_commands_update",
          "session_info_update",
          "agent_thought_chunk",
          "agent_message_chunk",
          "tool_call",
          "tool_call_update",
        ]),
      );
      const kinds = events.map((event) => Object(event).kind);
      expect(new Set(kinds)).toEqual(
        new Set(isHost ? ["live_session_client", "log", "progress"] : []),
      );
      expect(complaint).not.toHaveBeenCalled();
    },
  );

  it("An error of the client denies the permission request [B-012]", async () => {
    const sessions = createScriptedSessions({ turn: askingTurn });
    // The client logs its own error.
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => complaint.mockRestore());
    const { agent } = await sdkClient(sessions, () => Promise.reject(new Error("no window")));
    const { sessionId } = await agent.newSession({ cwd: "/work", mcpServers: [] });
    const answer = agent.prompt({ sessionId, prompt: [{ type: "text", text: "delete a" }] });
    expect((await sessions.waitForCommand("decide-approval")).decision).toBe("deny");
    await agent.cancel({ sessionId });
    expect(await answer).toEqual({ stopReason: "cancelled" });
  });

  it("The client cancels a turn", async () => {
    const { agent } = await sdkClient(createScriptedSessions());
    const { sessionId } = await agent.newSession({ cwd: "/work", mcpServers: [] });
    const answer = agent.prompt({ sessionId, prompt: [{ type: "text", text: "go" }] });
    await agent.cancel({ sessionId });
    expect(await answer).toEqual({ stopReason: "cancelled" });
  });

  it("The client loads a session of another client", async () => {
    const sessions = createScriptedSessions({ turn: echoTurn });
    const one = await sdkClient(sessions);
    const { sessionId } = await one.agent.newSession({ cwd: "/work", mcpServers: [] });
    await one.agent.prompt({ sessionId, prompt: [{ type: "text", text: "hello" }] });
    const two = await sdkClient(sessions);
    await two.agent.loadSession({ sessionId, cwd: "/work", mcpServers: [] });
    expect(texts(two.updates)).toEqual([
      "user_message_chunk: hello",
      "agent_message_chunk: You said: hello",
    ]);
  });

  it("The client receives the error of a failed request", async () => {
    const { agent } = await sdkClient(createScriptedSessions());
    const lost = agent.loadSession({ sessionId: "nowhere", cwd: "/work", mcpServers: [] });
    await expect(lost).rejects.toMatchObject({ code: -32002, data: { sessionId: "nowhere" } });
  });
});
