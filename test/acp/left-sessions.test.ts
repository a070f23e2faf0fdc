import { describe, expect, it } from "vitest";
import type { Sessions } from "../../src/session/sessions.ts";
import { acpClient, asText, USER, type AcpClient, type Message } from "../support/acp-client.ts";
import { eventually } from "../support/eventually.ts";
import { gate } from "../support/gate.ts";
import { savingSessions } from "../support/saving-sessions.ts";
import { hangs, says, wants } from "../support/scripted-provider.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const WANTS_TO_SAVE = [wants({ id: "c1", name: "save", input: {} }), says("Saved.")];

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

/** Two clients that are both asked about what one of them began: neither may control, so that nobody does. */
async function askedBoth() {
  const sessions = savingSessions(...WANTS_TO_SAVE);
  const principal = { id: USER.id, rights: ["prompt", "approve"] } as const;
  const first = await acpClient(sessions, { principal });
  const sessionId = await first.begin();
  const answer = first.ask("session/prompt", prompt(sessionId));
  const own = await first.find(isPermission);
  const other = await acpClient(sessions, { principal });
  await other.ask("initialize");
  await other.result("session/load", { sessionId, ...SETUP });
  const { id } = await other.find(isPermission);
  return { sessions, sessionId, first, own, answer, other, id };
}

function allow(client: AcpClient, id: Message[string] | undefined): void {
  const outcome = { outcome: "selected", optionId: "allow" };
  client.send({ jsonrpc: "2.0", id, result: { outcome } });
}

function taken({ messages }: AcpClient): unknown[] {
  return messages.flatMap(({ method, params }) => (method === "$/cancel_request" ? [params] : []));
}

describe("a question of a session that its client leaves", () => {
  it("is taken back when the client closes the session, and asked again once when it comes back [ACP-101]", async () => {
    const { sessionId, other, id, first, own, answer } = await askedBoth();
    await other.result("session/close", { sessionId });
    expect(taken(other)).toEqual([{ requestId: id }]);
    await other.result("session/load", { sessionId, ...SETUP });
    const again = await other.find((one) => isPermission(one) && one["id"] !== id);
    expect(other.messages.filter(isPermission)).toHaveLength(2);
    allow(first, own["id"]);
    expect((await answer)["result"]).toEqual({ stopReason: "end_turn" });
    await other.find(
      ({ method, params }) =>
        method === "$/cancel_request" && JSON.stringify(params).includes(asText(again["id"])),
    );
  });

  it("is taken back when another sends the client away [ACP-101]", async () => {
    const { sessions, sessionId, other, id } = await askedBoth();
    const { clients } = await sessions.peek(sessionId);
    const clientId = clients.at(-1)?.clientId ?? "";
    const away = { type: "detach", clientId, reason: "sent away" } as const;
    await sessions.command(sessionId, away, { principal: USER });
    await other.find(({ method }) => method === "$/cancel_request");
    expect(taken(other)).toEqual([{ requestId: id }]);
  });
});

describe("a prompt that is being given to a session", () => {
  it("is answered when its client is sent away meanwhile", async () => {
    const sessions = savingSessions(hangs("Well"));
    const { held, taking, open } = slowToTake(sessions);
    const client = await acpClient(held);
    const sessionId = await client.begin();
    const answer = client.ask("session/prompt", prompt(sessionId));
    await taking;
    const other = await acpClient(sessions);
    await other.ask("initialize");
    await other.result("session/load", { sessionId, ...SETUP });
    const { clients } = await sessions.peek(sessionId);
    const clientId = clients.find(({ mode }) => mode === "controller")?.clientId;
    await other.result("session/detach", { sessionId, clientId });
    // Read behind the event that says so.
    await client.result("session/list");
    open();
    expect((await answer)["error"]).toMatchObject({ data: { code: "aborted" } });
  });

  it("is answered when the session can no longer be followed", async () => {
    const sessions = savingSessions(hangs("Well"));
    const { held, taking, open } = slowToTake(sessions);
    const lost = gate();
    const client = await acpClient({
      ...held,
      agents: held.agents,
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
    const sessionId = await client.begin();
    const answer = client.ask("session/prompt", prompt(sessionId));
    await Promise.all([taking, lost.entered]);
    lost.open();
    await noted(client, "a session can no longer be followed");
    open();
    expect((await answer)["error"]).toMatchObject({ code: -32603 });
  });
});

/** Sessions whose reply to a prompt comes when the test lets it; the prompt itself is in the log by then. */
function slowToTake(sessions: Sessions) {
  const { entered: taking, open, pass } = gate();
  const held: Sessions = {
    ...sessions,
    agents: sessions.agents,
    async command(...given) {
      const reply = await sessions.command(...given);
      if (given[1].type === "prompt") await pass();
      return reply;
    },
  };
  return { held, taking, open };
}

async function noted({ notes }: AcpClient, note: string): Promise<void> {
  await eventually(async () => expect(notes).toContain(note));
}
