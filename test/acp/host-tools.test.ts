import { describe, expect, it } from "vitest";
import { isObject, type JsonValue } from "../../src/domain/json.ts";
import { acpClient, asText, type AcpClient, type Message } from "../support/acp-client.ts";
import { equippedSessions, type EquippedSessions } from "../support/equipped-sessions.ts";
import { fakeClock, passing } from "../support/fake-clock.ts";
import { eventually } from "../support/eventually.ts";
import { says, wants } from "../support/scripted-provider.ts";

const READ = {
  name: "Read",
  description: "Reads a file of the editor",
  schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
const HOST = { _meta: { harn: { hostTools: true } } };
const SETUP = { cwd: "/work", mcpServers: [] };
const READS = [wants({ id: "c1", name: "host__Read", input: { path: "a.ts" } }), says("Done.")];

/** Answers the agent's requests of one method from then on. */
function answering(client: AcpClient, method: string, answer: (request: Message) => object): void {
  const answered = new Set<JsonValue>();
  const isNew = (message: Message): boolean =>
    message["method"] === method && !answered.has(message["id"] ?? null);
  const next = async (): Promise<void> => {
    for (;;) {
      const request = await client.find(isNew);
      answered.add(request["id"] ?? null);
      client.send({ jsonrpc: "2.0", id: request["id"], ...answer(request) });
    }
  };
  void next();
}

async function hosted(
  world: EquippedSessions,
  tools: JsonValue = [READ],
): Promise<{ readonly client: AcpClient; readonly sessionId: string }> {
  // However long this machine takes.
  const client = await acpClient(world.sessions, { clock: fakeClock() });
  answering(client, "host/tools/list", () => ({ result: { tools } }));
  await client.ask("initialize", { clientCapabilities: HOST });
  const { sessionId } = await client.result("session/new", SETUP);
  return { client, sessionId: asText(sessionId) };
}

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

function count(client: AcpClient, method: string): number {
  return client.messages.filter((message) => message["method"] === method).length;
}

describe("the tools of a host", () => {
  it("are the agent's, and run where they are, under the call's own id [B-227] [B-237] [ACP-133]", async () => {
    const world = equippedSessions(READS);
    const { client, sessionId } = await hosted(world);
    expect(client.notes).toEqual([]);
    expect(await world.tools(sessionId)).toEqual(["host__Read"]);
    answering(client, "builtin_call", () => ({ result: { text: "const a = 1;" } }));
    expect(await client.result("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
    const call = await client.find(({ method }) => method === "builtin_call");
    const log = await world.log(sessionId);
    const called = log.flatMap(({ event }) => (event.type === "tool.called" ? [event] : []));
    expect(call["params"]).toEqual({
      name: "Read",
      args: [{ path: "a.ts" }],
      _meta: { harn: { sessionId, toolCallId: called[0]?.toolCallId } },
    });
    expect((await world.results(sessionId)).join()).toContain("const a = 1;");
    const calls = client
      .updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
    expect(JSON.stringify(calls.at(-1))).toContain("host_bridge");
  });

  it("are asked for once on a connection, and beside what the client does next [W-46]", async () => {
    const world = equippedSessions([says("Hi")]);
    const { client, sessionId } = await hosted(world);
    const { sessionId: next } = await client.result("session/new", SETUP);
    await client.result("session/prompt", prompt(sessionId));
    expect(await world.tools(asText(next))).toEqual(["host__Read"]);
    expect(count(client, "host/tools/list")).toBe(1);
  });

  it("are not asked of a client that does not say that it has some [W-29]", async () => {
    const world = equippedSessions([says("Hi")]);
    const client = await acpClient(world.sessions);
    await client.ask("initialize", { clientCapabilities: { _meta: { harn: {} } } });
    const { sessionId } = await client.result("session/new", SETUP);
    await client.result("session/prompt", prompt(asText(sessionId)));
    expect(count(client, "host/tools/list")).toBe(0);
  });

  it("hold nobody up where the host does not answer [W-46]", async () => {
    const clock = fakeClock();
    const world = equippedSessions([says("Hi")], { clock });
    const client = await acpClient(world.sessions, { clock });
    await client.ask("initialize", { clientCapabilities: HOST });
    const start = clock.monotonic();
    await passing(clock, client.result("session/new", SETUP));
    expect(clock.monotonic() - start).toBeLessThanOrEqual(2000);
    expect(count(client, "$/cancel_request")).toBe(1);
  });

  it("that cannot be used are told of, and the others are there", async () => {
    const world = equippedSessions([says("Hi")]);
    const wrong = { name: "Bad", schema: { type: "object", properties: { a: { type: "what" } } } };
    const { client, sessionId } = await hosted(world, [
      wrong,
      READ,
      { name: "Text", schema: null },
    ]);
    expect(await world.tools(sessionId)).toEqual(["host__Read", "host__Text"]);
    expect(client.notes).toHaveLength(1);
    expect(JSON.stringify(await world.log(sessionId))).toContain("The host's tool Bad");
  });

  it("that fail say to the model what the host said", async () => {
    const world = equippedSessions(READS);
    const { client, sessionId } = await hosted(world);
    answering(client, "builtin_call", () => ({ error: { code: -32001, message: "No such file" } }));
    await client.result("session/prompt", prompt(sessionId));
    expect((await world.results(sessionId)).join()).toContain("No such file");
  });

  it("are asked for no longer when the turn is cancelled [ACP-109]", async () => {
    const world = equippedSessions(READS);
    const { client, sessionId } = await hosted(world);
    const done = client.result("session/prompt", prompt(sessionId));
    const call = await client.find(({ method }) => method === "builtin_call");
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await done).toEqual({ stopReason: "cancelled" });
    const cancel = await client.find(({ method }) => method === "$/cancel_request");
    expect(cancel["params"]).toEqual({ requestId: call["id"] });
  });

  it("go with their client: a call that waits for it ends, and nobody else is asked", async () => {
    const world = equippedSessions(READS);
    const { client, sessionId } = await hosted(world);
    client.send({ jsonrpc: "2.0", id: 90, method: "session/prompt", params: prompt(sessionId) });
    await client.find(({ method }) => method === "builtin_call");
    const other = await acpClient(world.sessions);
    await other.ask("initialize", {});
    await other.result("session/load", { sessionId, ...SETUP });
    client.socket.destroy();
    await client.served;
    await eventually(async () =>
      expect((await world.results(sessionId)).join()).toContain("The client is gone"),
    );
    await eventually(async () => expect(await world.tools(sessionId)).toEqual([]));
    expect(count(other, "builtin_call")).toBe(0);
  });

  it("stay with a client that takes a name of its own, and are not asked for twice when it loads again", async () => {
    const world = equippedSessions(READS);
    const { client, sessionId } = await hosted(world);
    await client.result("session/attach", { sessionId, clientId: "ide", mode: "controller" });
    expect(await world.tools(sessionId)).toEqual(["host__Read"]);
    const done = client.result("session/prompt", prompt(sessionId));
    const call = await client.find(({ method }) => method === "builtin_call");
    await client.result("session/load", { sessionId, ...SETUP });
    client.send({ jsonrpc: "2.0", id: call["id"], result: "text" });
    expect(isObject(await done)).toBe(true);
    expect(count(client, "builtin_call")).toBe(1);
  });
});
