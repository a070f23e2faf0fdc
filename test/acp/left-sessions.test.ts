import { describe, expect, it, onTestFinished } from "vitest";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { acpClient, asText, type AcpClient, type Message } from "../support/acp-client.ts";
import { says, scriptedProvider, wants, type Answer } from "../support/scripted-provider.ts";
import { agentOf, sessionsOn, tool } from "../support/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };
const WANTS_TO_SAVE = [wants({ id: "c1", name: "save", input: {} }), says("Saved.")];

function sessionsWith(...answers: readonly Answer[]) {
  const provider = scriptedProvider(answers);
  const save = tool({ name: "save" }, () => "saved");
  const approvals = { deny: [], ask: ["save"], allow: [], otherwise: "deny" } as const;
  const sessions = sessionsOn(memoryStore(), agentOf({ provider, tools: [save], approvals }));
  onTestFinished(() => sessions.close());
  return sessions;
}

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

/** Two clients that are both asked about what one of them began. */
async function askedBoth() {
  const sessions = sessionsWith(...WANTS_TO_SAVE);
  const first = await acpClient(sessions);
  const sessionId = await first.begin();
  const answer = first.ask("session/prompt", prompt(sessionId));
  const own = await first.find(isPermission);
  const other = await acpClient(sessions);
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
    const { sessions, sessionId, other, id, first } = await askedBoth();
    const { clients } = await sessions.peek(sessionId);
    const clientId = clients.find(({ mode }) => mode === "observer")?.clientId;
    await first.result("session/detach", { sessionId, clientId });
    await other.find(({ method }) => method === "$/cancel_request");
    expect(taken(other)).toEqual([{ requestId: id }]);
  });
});
