import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { serveOnSocket } from "../../support/acp/acp-client.ts";
import { createScriptedSessions } from "../../support/session/scripted-sessions.ts";
import { busyTurn } from "../../support/acp/scripted-turns.ts";

/** A parsed line of any shape. */
type Parsed = ReturnType<typeof JSON.parse>;

describe("Declared bridge host", () => {
  it("The host receives the advertised updates and no agent events [B-022] [B-023] [W-24]", async () => {
    const { socket } = await serveOnSocket(createScriptedSessions({ turn: busyTurn }));
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    const messages: Parsed[] = [];
    const ask = async (id: number, method: string, params: object): Promise<Parsed> => {
      socket.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const { value } = await lines.next();
        const message = JSON.parse(value);
        messages.push(message);
        if (message.id === id) return message.result;
      }
    };
    const clientCapabilities = { _meta: { harn: {} } };
    const { agentCapabilities } = await ask(1, "initialize", { clientCapabilities });
    const { sessionId } = await ask(2, "session/new", { cwd: "/work", mcpServers: [] });
    await ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
    const updates = messages.flatMap(({ params }) => params?.update ?? []);
    const names = new Set(updates.map(({ sessionUpdate }) => sessionUpdate));
    const advertised = agentCapabilities["_meta"].harn.sessionUpdateExtensions;
    expect([...names].filter((name) => advertised.includes(name))).toEqual([
      "available_commands_update",
      "live_session_client",
      "log",
      "progress",
    ]);
    expect(messages.filter(({ method }) => method === "_harn/agentEvent")).toEqual([]);
    const seen = updates.flatMap(({ content }) => content?.["_meta"]?.harn ?? []);
    expect(seen.at(-1)).toEqual({ visible_text: "I will look.", visible_delta: "" });
  });
});
