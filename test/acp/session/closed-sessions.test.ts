import { describe, expect, it } from "vitest";
import type { Sessions } from "../../../src/session/sessions.ts";
import {
  connectAcpClient,
  readText,
  USER,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { eventually } from "../../support/eventually.ts";
import { createGate } from "../../support/gate.ts";
import { createSavingSessions } from "../../support/session/saving-sessions.ts";
import { hangs, says, wants } from "../../support/session/scripted-provider.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const WANTS_TO_SAVE = [wants({ id: "c1", name: "save", input: {} }), says("Saved.")];

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

/**
 * Two clients that both receive the permission request of the first client's prompt. Neither has the control right, so
 * the session has no controller.
 */
async function askedBoth() {
  const sessions = createSavingSessions(...WANTS_TO_SAVE);
  const principal = { id: USER.id, rights: ["prompt", "approve"] } as const;
  const first = await connectAcpClient(sessions, { principal });
  const sessionId = await first.newSession();
  const answer = first.request("session/prompt", prompt(sessionId));
  const own = await first.waitForMessage(isPermission);
  const other = await connectAcpClient(sessions, { principal });
  await other.request("initialize");
  await other.requestResult("session/load", { sessionId, ...SETUP });
  const { id } = await other.waitForMessage(isPermission);
  return { sessions, sessionId, first, own, answer, other, id };
}

function allow(client: AcpClient, id: Message[string] | undefined): void {
  const outcome = { outcome: "selected", optionId: "allow" };
  client.send({ jsonrpc: "2.0", id, result: { outcome } });
}

function taken({ messages }: AcpClient): unknown[] {
  return messages.flatMap(({ method, params }) => (method === "$/cancel_request" ? [params] : []));
}

describe("Permission request of a client that leaves its session", () => {
  it("The request is withdrawn when its client closes the session, and sent again once after a load [ACP-101]", async () => {
    const { sessionId, other, id, first, own, answer } = await askedBoth();
    await other.requestResult("session/close", { sessionId });
    expect(taken(other)).toEqual([{ requestId: id }]);
    await other.requestResult("session/load", { sessionId, ...SETUP });
    const again = await other.waitForMessage((one) => isPermission(one) && one["id"] !== id);
    expect(other.messages.filter(isPermission)).toHaveLength(2);
    allow(first, own["id"]);
    expect((await answer)["result"]).toEqual({ stopReason: "end_turn" });
    await other.waitForMessage(
      ({ method, params }) =>
        method === "$/cancel_request" && JSON.stringify(params).includes(readText(again["id"])),
    );
  });

  it("The request is withdrawn when another client detaches its client [ACP-101]", async () => {
    const { sessions, sessionId, other, id } = await askedBoth();
    const { clients } = await sessions.status(sessionId);
    const clientId = clients.at(-1)?.clientId ?? "";
    const away = { type: "detach", clientId, reason: "sent away" } as const;
    await sessions.command(sessionId, away, { principal: USER });
    await other.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(taken(other)).toEqual([{ requestId: id }]);
  });
});

describe("Prompt during its submission", () => {
  it("The prompt gets a response if its client is detached meanwhile", async () => {
    const sessions = createSavingSessions(hangs("Well"));
    const { delayedSessions, taking, open } = slowToTake(sessions);
    const client = await connectAcpClient(delayedSessions);
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId));
    await taking;
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { sessionId, ...SETUP });
    const { clients } = await sessions.status(sessionId);
    const clientId = clients.find(({ role }) => role === "controller")?.clientId;
    await other.requestResult("session/detach", { sessionId, clientId });
    // This response arrives after the client has read the detach event.
    await client.requestResult("session/list");
    open();
    expect((await answer)["error"]).toMatchObject({ data: { code: "aborted" } });
  });

  it("The prompt gets a response if the session subscription fails", async () => {
    const sessions = createSavingSessions(hangs("Well"));
    const { delayedSessions, taking, open } = slowToTake(sessions);
    const lost = createGate();
    const client = await connectAcpClient({
      ...delayedSessions,
      agents: delayedSessions.agents,
      async *subscribe(...taken) {
        for await (const batch of sessions.subscribe(...taken)) {
          if (batch.events.some(({ event }) => event.type === "prompt.accepted")) {
            await lost.pass();
            throw new Error("The store is gone");
          }
          yield batch;
        }
      },
    });
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId));
    await Promise.all([taking, lost.entry]);
    lost.open();
    await noted(client, "a session can no longer be followed");
    open();
    expect((await answer)["error"]).toMatchObject({ code: -32603 });
  });
});

/** Sessions that delay the reply to a prompt until `open` is called. The prompt is already in the log. */
function slowToTake(sessions: Sessions) {
  const { entry: taking, open, pass } = createGate();
  const delayedSessions: Sessions = {
    ...sessions,
    agents: sessions.agents,
    async command(...args) {
      const reply = await sessions.command(...args);
      if (args[1].type === "prompt") await pass();
      return reply;
    },
  };
  return { delayedSessions, taking, open };
}

async function noted({ notes }: AcpClient, note: string): Promise<void> {
  await eventually(async () => expect(notes).toContain(note));
}
