import { describe, expect, it } from "vitest";
import { isObject, type JsonValue } from "../../../src/data/json.ts";
import {
  connectAcpClient,
  readText,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import {
  createClientToolSessions,
  type ClientToolSessions,
} from "../../support/session/client-tool-sessions.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import { eventually } from "../../support/eventually.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";

const READ = {
  name: "Read",
  description: "Reads a file of the editor",
  schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};
const HOST = { _meta: { harn: { hostTools: true } } };
/** One that runs each call once, and says again what came of it. */
const KNOWING = { _meta: { harn: { hostTools: true, callRecords: true } } };
const SETUP = { cwd: "/work", mcpServers: [] };
const READS = [wants({ id: "c1", name: "host__Read", input: { path: "a.ts" } }), says("Done.")];

/** Answers the agent's requests of one method from then on. */
function answering(client: AcpClient, method: string, answer: (request: Message) => object): void {
  const answered = new Set<JsonValue>();
  const isNew = (message: Message): boolean =>
    message["method"] === method && !answered.has(message["id"] ?? null);
  const next = async (): Promise<void> => {
    for (;;) {
      const request = await client.waitForMessage(isNew);
      answered.add(request["id"] ?? null);
      client.send({ jsonrpc: "2.0", id: request["id"], ...answer(request) });
    }
  };
  // The agent may have nothing more to ask.
  next().catch(() => {});
}

async function hostOf(
  world: ClientToolSessions,
  tools: JsonValue = [READ],
  clientCapabilities: object = HOST,
): Promise<AcpClient> {
  // However long this machine takes.
  const client = await connectAcpClient(world.sessions, { clock: createFakeClock() });
  answering(client, "host/tools/list", () => ({ result: { tools } }));
  await client.request("initialize", { clientCapabilities });
  return client;
}

async function hosted(
  world: ClientToolSessions,
  tools: JsonValue = [READ],
  capabilities: object = HOST,
): Promise<{ readonly client: AcpClient; readonly sessionId: string }> {
  const client = await hostOf(world, tools, capabilities);
  const { sessionId } = await client.requestResult("session/new", SETUP);
  return { client, sessionId: readText(sessionId) };
}

function prompt(sessionId: string): object {
  return { sessionId, prompt: [{ type: "text", text: "Go" }] };
}

function count(client: AcpClient, method: string): number {
  return client.messages.filter((message) => message["method"] === method).length;
}

describe("the tools of a host", () => {
  it("are the agent's, and run where they are, under the call's own id [B-227] [B-237] [ACP-133]", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    expect(client.notes).toEqual([]);
    expect(await world.listTools(sessionId)).toEqual(["host__Read"]);
    answering(client, "builtin_call", () => ({ result: { text: "const a = 1;" } }));
    expect(await client.requestResult("session/prompt", prompt(sessionId))).toEqual({
      stopReason: "end_turn",
    });
    const call = await client.waitForMessage(({ method }) => method === "builtin_call");
    const log = await world.readLog(sessionId);
    const called = log.flatMap(({ event }) => (event.type === "tool_call.received" ? [event] : []));
    expect(call["params"]).toEqual({
      name: "Read",
      args: [{ path: "a.ts" }],
      _meta: { harn: { sessionId, toolCallId: called[0]?.toolCallId } },
    });
    expect((await world.listResults(sessionId)).join()).toContain("const a = 1;");
    const calls = client
      .listUpdates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
    expect(JSON.stringify(calls.at(-1))).toContain("host_bridge");
  });

  it("are asked for once on a connection, and beside what the client does next [W-46]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const { client, sessionId } = await hosted(world);
    const { sessionId: next } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(sessionId));
    expect(await world.listTools(readText(next))).toEqual(["host__Read"]);
    expect(count(client, "host/tools/list")).toBe(1);
  });

  it("are not asked of a client that does not say that it has some [W-29]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions);
    await client.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
    const { sessionId } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(readText(sessionId)));
    expect(count(client, "host/tools/list")).toBe(0);
  });

  it("hold nobody up where the host does not answer [W-46]", async () => {
    const clock = createFakeClock();
    const world = createClientToolSessions([says("Hi")], { clock });
    const client = await connectAcpClient(world.sessions, { clock });
    await client.request("initialize", { clientCapabilities: HOST });
    const start = clock.monotonic();
    await advanceUntil(clock, client.requestResult("session/new", SETUP));
    expect(clock.monotonic() - start).toBeLessThanOrEqual(2000);
    expect(count(client, "$/cancel_request")).toBe(1);
  });

  it("that cannot be used are told of, and the others are there", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const wrong = { name: "Bad", schema: { type: "object", properties: { a: { type: "what" } } } };
    const { client, sessionId } = await hosted(world, [
      wrong,
      READ,
      { name: "Text", schema: null },
    ]);
    expect(await world.listTools(sessionId)).toEqual(["host__Read", "host__Text"]);
    expect(client.notes).toHaveLength(1);
    expect(JSON.stringify(await world.readLog(sessionId))).toContain("The host's tool Bad");
  });

  it("One invalid or repeated tool costs no other, and the client is told of it [B-235]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const { client, sessionId } = await hosted(world, [{ name: "" }, READ, READ, { name: "Text" }]);
    expect(await world.listTools(sessionId)).toEqual(["host__Read", "host__Text"]);
    expect(client.notes).toHaveLength(2);
    const messages = (await world.readLog(sessionId)).flatMap(({ event }) =>
      event.type === "diagnostic.raised" ? [event.diagnostic.message] : [],
    );
    expect(messages).toEqual([
      "Tool 0 of host/tools/list cannot be used: it has no name",
      'Tool 2 of host/tools/list cannot be used: it has the name "Read" again',
    ]);
  });

  it("A tool that the host has from an MCP server is reported with that server as its executor [B-085]", async () => {
    const world = createClientToolSessions(READS);
    const tools = [{ ...READ, _mcp_server: "files" }];
    const { client, sessionId } = await hosted(world, tools);
    answering(client, "builtin_call", () => ({ result: "text" }));
    await client.requestResult("session/prompt", prompt(sessionId));
    const executors = client
      .listUpdates()
      .map((update) => Object(update["_meta"])["harn"]?.executor)
      .filter((executor) => executor !== undefined);
    expect(new Set(executors.map((one) => JSON.stringify(one)))).toEqual(
      new Set(['{"kind":"mcp_server","serverName":"files"}']),
    );
    const log = await world.readLog(sessionId);
    const [context] = log.flatMap(({ event }) =>
      event.type === "agent.configured" ? event.spec.tools : [],
    );
    expect(context?.traits?.executor).toEqual({ type: "host", server: "files", tool: "Read" });
  });

  it("that fail say to the model what the host said", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    answering(client, "builtin_call", () => ({ error: { code: -32001, message: "No such file" } }));
    await client.requestResult("session/prompt", prompt(sessionId));
    expect((await world.listResults(sessionId)).join()).toContain("No such file");
  });

  it("are asked for no longer when the turn is cancelled [ACP-109]", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    const done = client.requestResult("session/prompt", prompt(sessionId));
    const call = await client.waitForMessage(({ method }) => method === "builtin_call");
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await done).toEqual({ stopReason: "cancelled" });
    const cancel = await client.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(cancel["params"]).toEqual({ requestId: call["id"] });
  });

  it("go with their client: a call that waits for it ends, and nobody else is asked", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    client.send({ jsonrpc: "2.0", id: 90, method: "session/prompt", params: prompt(sessionId) });
    await client.waitForMessage(({ method }) => method === "builtin_call");
    const other = await connectAcpClient(world.sessions);
    await other.request("initialize", {});
    await other.requestResult("session/load", { sessionId, ...SETUP });
    client.socket.destroy();
    await client.done;
    await eventually(async () =>
      expect((await world.listResults(sessionId)).join()).toContain("The client is gone"),
    );
    await eventually(async () => expect(await world.listTools(sessionId)).toEqual([]));
    expect(count(other, "builtin_call")).toBe(0);
  });

  it("stay with a client that takes a name of its own, and are not asked for twice when it loads again", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    await client.requestResult("session/attach", {
      sessionId,
      clientId: "ide",
      mode: "controller",
    });
    expect(await world.listTools(sessionId)).toEqual(["host__Read"]);
    const done = client.requestResult("session/prompt", prompt(sessionId));
    const call = await client.waitForMessage(({ method }) => method === "builtin_call");
    await client.requestResult("session/load", { sessionId, ...SETUP });
    client.send({ jsonrpc: "2.0", id: call["id"], result: "text" });
    expect(isObject(await done)).toBe(true);
    expect(count(client, "builtin_call")).toBe(1);
  });
});

const CALL = "builtin_call";
const isCall = ({ method }: Message): boolean => method === CALL;

function callOf(message: Message): JsonValue | undefined {
  const { params } = message;
  const meta = isObject(params) && isObject(params["_meta"]) ? params["_meta"]["harn"] : undefined;
  return meta;
}

/** A host that runs a tool for a prompt, up to the loss of its connection. */
async function lost(world: ClientToolSessions) {
  const { client, sessionId } = await hosted(world, [READ], KNOWING);
  client.send({ jsonrpc: "2.0", id: 90, method: "session/prompt", params: prompt(sessionId) });
  const call = callOf(await client.waitForMessage(isCall));
  const drop = async (): Promise<void> => {
    client.socket.destroy();
    await client.done;
  };
  return { sessionId, call, drop };
}

async function ended(world: ClientToolSessions, sessionId: string): Promise<void> {
  await eventually(async () =>
    expect((await world.readLog(sessionId)).at(-1)?.event.type).toBe("turn.finished"),
  );
}

describe("a call of a host that knows its calls again", () => {
  it("is put to it again under its id, as a repeat, when it is back after its connection was lost", async () => {
    const world = createClientToolSessions(READS);
    const { sessionId, call, drop } = await lost(world);
    await drop();
    const back = await hostOf(world, [READ], KNOWING);
    answering(back, CALL, () => ({ result: "what came of it" }));
    await back.requestResult("session/resume", { sessionId, ...SETUP });
    await ended(world, sessionId);
    expect(callOf(await back.waitForMessage(isCall))).toEqual({ ...Object(call), attempt: 2 });
    expect(await world.listResults(sessionId)).toEqual(["what came of it"]);
    expect(count(back, "session/request_permission")).toBe(0);
  });

  it("stays with a client that takes a name of its own while it runs", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world, [READ], KNOWING);
    const done = client.requestResult("session/prompt", prompt(sessionId));
    await client.waitForMessage(isCall);
    client.send({
      jsonrpc: "2.0",
      id: 91,
      method: "session/attach",
      params: { sessionId, clientId: "ide", mode: "controller" },
    });
    const again = await client.waitForMessage(
      (one) => isCall(one) && Object(callOf(one)).attempt === 2,
    );
    client.send({ jsonrpc: "2.0", id: again["id"], result: "text" });
    expect(isObject(await done)).toBe(true);
    expect(await world.listResults(sessionId)).toEqual(["text"]);
    // What it is at goes on.
    expect(count(client, "$/cancel_request")).toBe(0);
  });

  it("is a repeat to one that comes under its name while the connection before is there", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world, [READ], KNOWING);
    const secret = { _meta: { harn: { attachSecret: "s" } } };
    const tui = { sessionId, clientId: "tui", mode: "controller", ...secret };
    await client.requestResult("session/attach", tui);
    void client.request("session/prompt", prompt(sessionId));
    const call = callOf(await client.waitForMessage(isCall));
    const back = await hostOf(world, [READ], KNOWING);
    answering(back, CALL, () => ({ result: "what came of it" }));
    await back.requestResult("session/attach", tui);
    await ended(world, sessionId);
    expect(callOf(await back.waitForMessage(isCall))).toEqual({ ...Object(call), attempt: 2 });
    expect(await world.listResults(sessionId)).toEqual(["what came of it"]);
  });

  it("is not known to one that comes under its name as another process, and the model is told so", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world, [READ], KNOWING);
    const secret = { _meta: { harn: { attachSecret: "s" } } };
    const tui = { sessionId, clientId: "tui", mode: "controller", ...secret };
    await client.requestResult("session/attach", tui);
    void client.request("session/prompt", prompt(sessionId));
    await client.waitForMessage(isCall);
    const back = await hostOf(world, [READ], KNOWING);
    const error = { code: -32603, message: "Not known here", data: { code: "outcome_unknown" } };
    answering(back, CALL, () => ({ error }));
    await back.requestResult("session/attach", tui);
    await ended(world, sessionId);
    expect((await world.listResults(sessionId)).join()).toContain("Not known here");
    const endings = (await world.readLog(sessionId)).flatMap(({ event }) =>
      event.type === "tool.finished" ? [event.ending] : [],
    );
    expect(endings).toEqual(["unknown"]);
  });

  it("is waited for a minute, and then the model is told that nobody knows what came of it", async () => {
    const clock = createFakeClock();
    const world = createClientToolSessions(READS, { clock });
    const { sessionId, drop } = await lost(world);
    await drop();
    clock.advance(59_000);
    expect(await world.listResults(sessionId)).toEqual([]);
    clock.advance(1000);
    await ended(world, sessionId);
    expect((await world.listResults(sessionId)).join()).toContain(
      "was running when its client was lost. Whether it did its work is not known",
    );
  });

  it("is asked about after a minute where the bridge was killed, and nobody came", async () => {
    const clock = createFakeClock();
    const killed = createClientToolSessions(READS, { clock });
    const { sessionId } = await lost(killed);
    const world = createClientToolSessions([says("Done.")], { clock, store: killed.store });
    await world.sessions.resumeInterrupted();
    const asked = async () =>
      (await world.readLog(sessionId)).flatMap(({ event }) =>
        event.type === "approval.requested" ? [event.action] : [],
      );
    clock.advance(59_000);
    expect(await asked()).toEqual([]);
    clock.advance(1000);
    await eventually(async () =>
      expect(await asked()).toEqual(["host__Read may already have run; allowing runs it again"]),
    );
  });

  it("is asked about where the tool that is back is another one", async () => {
    const world = createClientToolSessions(READS);
    const { sessionId, drop } = await lost(world);
    await drop();
    const other = { ...READ, description: "Reads and tells everybody" };
    const back = await hostOf(world, [other], KNOWING);
    await back.requestResult("session/resume", { sessionId, ...SETUP });
    const question = await back.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    expect(JSON.stringify(question)).toContain("was running when its client was lost");
    expect(count(back, CALL)).toBe(0);
  });

  it("is run by a host that did not know it only when somebody says so", async () => {
    const world = createClientToolSessions(READS);
    const { sessionId, call, drop } = await lost(world);
    await drop();
    const back = await hostOf(world, [READ], KNOWING);
    answering(back, CALL, (request) =>
      Object(callOf(request)).attempt === 2
        ? { error: { code: -32603, message: "Not known", data: { code: "outcome_unknown" } } }
        : { result: "run now" },
    );
    answering(back, "session/request_permission", () => ({
      result: { outcome: { outcome: "selected", optionId: "run-again" } },
    }));
    await back.requestResult("session/resume", { sessionId, ...SETUP });
    await ended(world, sessionId);
    expect(back.messages.filter(isCall).map(callOf)).toEqual([
      { ...Object(call), attempt: 2 },
      call,
    ]);
    expect(await world.listResults(sessionId)).toEqual(["run now"]);
  });
});

describe("a host that is known by the methods that it calls", () => {
  it("is asked for its tools and shells, and the sessions that it is in get them [B-022] [B-227]", async () => {
    const world = createClientToolSessions(READS);
    const client = await hostOf(world, [READ], {});
    answering(client, "host/call", () => ({ result: { shells: [], default_shell_id: null } }));
    const { sessionId } = await client.requestResult("session/new", SETUP);
    expect(count(client, "host/tools/list")).toBe(0);
    await client.requestResult("session/attach", {
      sessionId,
      clientId: "tui",
      mode: "controller",
    });
    await eventually(async () =>
      expect(await world.listTools(readText(sessionId))).toEqual(["host__Read"]),
    );
    answering(client, "builtin_call", () => ({ result: { text: "const a = 1;" } }));
    await client.requestResult("session/prompt", prompt(readText(sessionId)));
    await client.requestResult("session/heartbeat", { sessionId, clientId: "tui" });
    expect(count(client, "host/tools/list")).toBe(1);
    expect(count(client, "host/call")).toBe(1);
  });

  it("does not wait for lists that it does not answer [B-022]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    // No time passes.
    const client = await connectAcpClient(world.sessions, { clock: createFakeClock() });
    await client.request("initialize");
    const { sessionId } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/attach", {
      sessionId,
      clientId: "tui",
      mode: "controller",
    });
    expect(await client.requestResult("session/prompt", prompt(readText(sessionId)))).toEqual({
      stopReason: "end_turn",
    });
    expect(count(client, "host/tools/list")).toBe(1);
  });

  it("that has no method for its lists has none, and nothing is noted [B-022]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions, {
      clock: createFakeClock(),
      updates: "bridge",
    });
    const error = { code: -32601, message: "Method not found" };
    for (const method of ["host/tools/list", "host/call"])
      answering(client, method, () => ({ error }));
    await client.request("initialize");
    const { sessionId } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(readText(sessionId)));
    expect(client.notes).toEqual([]);
  });
});
