import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions, createTool } from "../../support/session/session-world.ts";

const TIMEOUT = { timeout: 60_000 };
const SETUP = { cwd: "/work", mcpServers: [] };

/** A bridge host with a permission request for a tool call with the given arguments. */
async function openRequest(input: JsonObject) {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "save", input }),
    says("Well."),
  ]);
  const ran: JsonObject[] = [];
  const save = createTool({ name: "save" }, (input) => {
    ran.push(input);
    return "saved";
  });
  const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;
  const store = createMemoryStore();
  const sessions = openSessions(store, createAgent({ provider, tools: [save], approvals }));
  onTestFinished(() => sessions.close());
  const client = await connectAcpClient(sessions, { updates: "bridge" });
  client.refuseHostLists();
  const sessionId = await client.newSession();
  const prompt = [{ type: "text", text: "Save." }];
  const turn = client.request("session/prompt", { sessionId, prompt });
  const request = await client.waitForMessage(isPermission);
  const params = Object(request["params"]);
  const reply = (result: object): void =>
    client.send({ jsonrpc: "2.0", id: request["id"], result });
  const events = async (): Promise<readonly SessionEvent[]> =>
    (await store.read(sessionId, 0, 1000)).map(({ event }) => event);
  return { client, sessions, sessionId, turn, params, reply, ran, events };
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

/** The arguments in the received tool call updates, in order. */
function toldInputs(client: AcpClient): unknown[] {
  return client.listUpdates().flatMap(({ rawInput }) => (rawInput === undefined ? [] : [rawInput]));
}

async function wholeArguments(client: AcpClient, truncated: Message): Promise<unknown> {
  const { method, params } = Object(truncated["fetch"]);
  let text = "";
  for (let offset: unknown = 0; offset !== null;) {
    const part = await client.requestResult(method, { ...params, offset });
    text += readText(part["text"]);
    offset = part["nextOffset"];
  }
  return JSON.parse(text);
}

describe("Arguments approved by a host", () => {
  it.each([
    ["5 KB", 5000],
    ["100 KB", 100_000],
  ])(
    "Arguments of %s are sent whole and an edit of one field keeps the others [B-095] [B-115]",
    TIMEOUT,
    async (_, length) => {
      const text = "text ".repeat(length / 5);
      const { params, reply, turn, ran } = await openRequest({ path: "a", text });
      const { approvalRequest, toolCall } = params;
      expect(approvalRequest.args).toEqual({ path: "a", text });
      expect(toolCall.rawInput).toEqual({ path: "a", text });
      reply({ granted: true, args: { ...approvalRequest.args, path: "b" } });
      await turn;
      expect(ran).toEqual([{ path: "b", text }]);
    },
  );

  it(
    "Arguments of 20 MB are sent as a marked preview and run whole [B-095] [B-114]",
    TIMEOUT,
    async () => {
      const input = { path: "a", text: "0123456789".repeat(2_000_000) };
      const { client, params, reply, turn, ran } = await openRequest(input);
      const { approvalRequest, _meta: meta } = params;
      const { truncated } = meta.harn;
      expect(truncated).toMatchObject({ bytes: JSON.stringify(input).length });
      expect(approvalRequest.args.text.length).toBeLessThan(10_000);
      expect(await wholeArguments(client, truncated)).toEqual(input);
      reply({ granted: true });
      await turn;
      // A boolean comparison avoids a diff of 20 MB in the failure message.
      expect(ran.map(({ text }) => text === input.text)).toEqual([true]);
    },
  );

  it("Arguments edited with a preview in place of 20 MB do not run [B-115]", TIMEOUT, async () => {
    const input = { path: "a", text: "0123456789".repeat(2_000_000) };
    const { params, reply, turn, ran, events } = await openRequest(input);
    reply({ granted: true, args: { ...params.approvalRequest.args, path: "b" } });
    await turn;
    expect(ran).toEqual([]);
    expect((await events()).find(({ type }) => type === "approval.resolved")).toMatchObject({
      decision: "deny",
      reason: expect.stringContaining("contain a preview"),
    });
  });

  it(
    "The whole arguments can be fetched only while the request is open and by its client",
    TIMEOUT,
    async () => {
      const { client, sessions, sessionId, reply, turn, events } = await openRequest({ path: "a" });
      const found = (await events()).find((event) => event.type === "approval.requested");
      const params = { sessionId, approvalId: Object(found).approvalId };
      expect(await client.requestResult("session/approval_args", params)).toMatchObject({
        text: '{"path":"a"}',
        nextOffset: null,
      });
      const other = await connectAcpClient(sessions);
      await other.request("initialize");
      const refusal = { error: { data: { code: "not_found" } } };
      expect(await other.request("session/approval_args", params)).toMatchObject(refusal);
      reply({ granted: true });
      await turn;
      expect(await client.request("session/approval_args", params)).toMatchObject(refusal);
    },
  );

  it("Edited arguments are sent at once and on load", TIMEOUT, async () => {
    const { client, sessions, sessionId, turn, reply } = await openRequest({ path: "a" });
    reply({ granted: true, args: { path: "b", token: "hunter22" } });
    await turn;
    const inputs = [{ path: "a" }, { path: "b", token: "[masked credential 1]" }];
    expect(toldInputs(client)).toEqual(inputs);
    const later = await connectAcpClient(sessions);
    await later.request("initialize");
    await later.requestResult("session/load", { sessionId, ...SETUP });
    expect(toldInputs(later)).toEqual(inputs);
  });

  it(
    "Credentials are masked in the request and restored for the tool [B-095] [B-115]",
    TIMEOUT,
    async () => {
      const header = "Bearer 0123456789abcdef";
      const input = { url: "https://example.com", headers: { Authorization: header } };
      const { client, params, reply, turn, ran } = await openRequest(input);
      const { args } = params.approvalRequest;
      expect(args.headers).toEqual({ Authorization: "[masked credential 1]" });
      reply({ granted: true, args: { ...args, url: "https://example.org" } });
      await turn;
      expect(ran).toEqual([{ ...input, url: "https://example.org" }]);
      expect(JSON.stringify(client.messages)).not.toContain(header);
    },
  );
});
