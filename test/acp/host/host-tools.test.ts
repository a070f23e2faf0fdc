import { describe, expect, it } from "vitest";
import { isObject, type JsonValue } from "../../../src/data/json.ts";
import { answerRequests } from "../../support/acp/answer-requests.ts";
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
/** A host that runs each tool call once and returns the stored result of a repeated request. */
const KNOWING = { _meta: { harn: { hostTools: true, callRecords: true } } };
const SETUP = { cwd: "/work", mcpServers: [] };
const READS = [wants({ id: "c1", name: "host__Read", input: { path: "a.ts" } }), says("Done.")];

async function hostOf(
  world: ClientToolSessions,
  tools: JsonValue = [READ],
  clientCapabilities: object = HOST,
): Promise<AcpClient> {
  // The fake clock keeps a slow machine from causing timeouts.
  const client = await connectAcpClient(world.sessions, { clock: createFakeClock() });
  answerRequests(client, "host/tools/list", () => ({ result: { tools } }));
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

describe("Host tools", () => {
  it("A host tool is offered to the agent and runs on the host under the tool call's id [B-227] [B-237] [ACP-133]", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    expect(client.notes).toEqual([]);
    expect(await world.listTools(sessionId)).toEqual(["host__Read"]);
    answerRequests(client, "builtin_call", () => ({ result: { text: "const a = 1;" } }));
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

  it("The tool list is requested once per connection without blocking the client [W-46]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const { client, sessionId } = await hosted(world);
    const { sessionId: next } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(sessionId));
    expect(await world.listTools(readText(next))).toEqual(["host__Read"]);
    expect(count(client, "host/tools/list")).toBe(1);
  });

  it("A client that does not declare host tools is not asked for them [W-29]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions);
    await client.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
    const { sessionId } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(readText(sessionId)));
    expect(count(client, "host/tools/list")).toBe(0);
  });

  it("A host that does not reply to the list request delays a session by at most 5 seconds [W-46]", async () => {
    const clock = createFakeClock();
    const world = createClientToolSessions([says("Hi")], { clock });
    const client = await connectAcpClient(world.sessions, { clock });
    await client.request("initialize", { clientCapabilities: HOST });
    const start = clock.monotonic();
    await advanceUntil(clock, client.requestResult("session/new", SETUP));
    expect(clock.monotonic() - start).toBeLessThanOrEqual(5000);
    expect(count(client, "$/cancel_request")).toBe(1);
  });

  it("An unusable tool is reported and the other tools are offered", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const wrong = { name: "Bad", schema: { type: "object", properties: { a: { type: "what" } } } };
    const { client, sessionId } = await hosted(world, [
      wrong,
      READ,
      { name: "Text", schema: null },
    ]);
    expect(await world.listTools(sessionId)).toEqual(["host__Read", "host__Text"]);
    expect(client.notes).toHaveLength(1);
    expect(JSON.stringify(await world.readLog(sessionId))).toContain("The host tool Bad");
  });

  it("An invalid or duplicate tool is reported and does not affect the other tools [B-235]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const { client, sessionId } = await hosted(world, [{ name: "" }, READ, READ, { name: "Text" }]);
    expect(await world.listTools(sessionId)).toEqual(["host__Read", "host__Text"]);
    expect(client.notes).toHaveLength(2);
    const messages = (await world.readLog(sessionId)).flatMap(({ event }) =>
      event.type === "diagnostic.raised" ? [event.diagnostic.message] : [],
    );
    expect(messages).toEqual([
      "Tool 0 of host/tools/list cannot be used: it has no name",
      'Tool 2 of host/tools/list cannot be used: it has the duplicate name "Read"',
    ]);
  });

  it("A tool from an MCP server has the server as its executor [B-085]", async () => {
    const world = createClientToolSessions(READS);
    const tools = [{ ...READ, _mcp_server: "files" }];
    const { client, sessionId } = await hosted(world, tools);
    answerRequests(client, "builtin_call", () => ({ result: "text" }));
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

  it("The model receives the error of a failed host tool", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    answerRequests(client, "builtin_call", () => ({
      error: { code: -32001, message: "No such file" },
    }));
    await client.requestResult("session/prompt", prompt(sessionId));
    expect((await world.listResults(sessionId)).join()).toContain("No such file");
  });

  it("A pending host tool call is cancelled with the turn [ACP-109]", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world);
    const done = client.requestResult("session/prompt", prompt(sessionId));
    const call = await client.waitForMessage(({ method }) => method === "builtin_call");
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await done).toEqual({ stopReason: "cancelled" });
    const cancel = await client.waitForMessage(({ method }) => method === "$/cancel_request");
    expect(cancel["params"]).toEqual({ requestId: call["id"] });
  });

  it("A disconnect ends the pending call of the host's tool and removes its tools", async () => {
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

  it("The tools stay with a client that attaches under another id, and a repeated load does not repeat the tool call", async () => {
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

/** A host that runs a tool for a prompt until its connection is lost. */
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

describe("Tool call of a host with call records", () => {
  it("The tool call is repeated with its id and attempt number when the host reconnects", async () => {
    const world = createClientToolSessions(READS);
    const { sessionId, call, drop } = await lost(world);
    await drop();
    const back = await hostOf(world, [READ], KNOWING);
    answerRequests(back, CALL, () => ({ result: "stored result" }));
    await back.requestResult("session/resume", { sessionId, ...SETUP });
    await ended(world, sessionId);
    expect(callOf(await back.waitForMessage(isCall))).toEqual({ ...Object(call), attempt: 2 });
    expect(await world.listResults(sessionId)).toEqual(["stored result"]);
    expect(count(back, "session/request_permission")).toBe(0);
  });

  it("A running tool call stays with a client that attaches under another id", async () => {
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
    // The running tool call continues.
    expect(count(client, "$/cancel_request")).toBe(0);
  });

  it("The tool call is repeated to a second connection that attaches under the same id", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world, [READ], KNOWING);
    const secret = { _meta: { harn: { attachSecret: "s" } } };
    const tui = { sessionId, clientId: "tui", mode: "controller", ...secret };
    await client.requestResult("session/attach", tui);
    void client.request("session/prompt", prompt(sessionId));
    const call = callOf(await client.waitForMessage(isCall));
    const back = await hostOf(world, [READ], KNOWING);
    answerRequests(back, CALL, () => ({ result: "stored result" }));
    await back.requestResult("session/attach", tui);
    await ended(world, sessionId);
    expect(callOf(await back.waitForMessage(isCall))).toEqual({ ...Object(call), attempt: 2 });
    expect(await world.listResults(sessionId)).toEqual(["stored result"]);
  });

  it("The model learns that the outcome is unknown if another process attaches under the same id", async () => {
    const world = createClientToolSessions(READS);
    const { client, sessionId } = await hosted(world, [READ], KNOWING);
    const secret = { _meta: { harn: { attachSecret: "s" } } };
    const tui = { sessionId, clientId: "tui", mode: "controller", ...secret };
    await client.requestResult("session/attach", tui);
    void client.request("session/prompt", prompt(sessionId));
    await client.waitForMessage(isCall);
    const back = await hostOf(world, [READ], KNOWING);
    const error = { code: -32603, message: "Not known here", data: { code: "outcome_unknown" } };
    answerRequests(back, CALL, () => ({ error }));
    await back.requestResult("session/attach", tui);
    await ended(world, sessionId);
    expect((await world.listResults(sessionId)).join()).toContain("Not known here");
    const endings = (await world.readLog(sessionId)).flatMap(({ event }) =>
      event.type === "tool.finished" ? [event.ending] : [],
    );
    expect(endings).toEqual(["unknown"]);
  });

  it("The outcome is unknown if the host does not reconnect within a minute", async () => {
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

  it("A person is asked for the outcome a minute after a restart if the host does not reconnect", async () => {
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

  it("A person is asked for the outcome if the reconnected host has a different tool of the same name", async () => {
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

  it("A host without a record of the tool call runs it only after a person decided so", async () => {
    const world = createClientToolSessions(READS);
    const { sessionId, call, drop } = await lost(world);
    await drop();
    const back = await hostOf(world, [READ], KNOWING);
    answerRequests(back, CALL, (request) =>
      Object(callOf(request)).attempt === 2
        ? { error: { code: -32603, message: "Not known", data: { code: "outcome_unknown" } } }
        : { result: "run now" },
    );
    answerRequests(back, "session/request_permission", () => ({
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

describe("Host detected by its method calls", () => {
  it("The host is asked for tools, shells and skills, and its sessions get them [B-022] [B-227] [B-255]", async () => {
    const world = createClientToolSessions(READS);
    const client = await hostOf(world, [READ], {});
    answerRequests(client, "host/call", () => ({ result: { shells: [], default_shell_id: null } }));
    answerRequests(client, "skills/list", () => ({ result: [{ id: "deploy" }] }));
    const { sessionId } = await client.requestResult("session/new", SETUP);
    expect(count(client, "host/tools/list") + count(client, "skills/list")).toBe(0);
    await client.requestResult("session/attach", {
      sessionId,
      clientId: "tui",
      mode: "controller",
    });
    await eventually(async () =>
      expect(await world.listTools(readText(sessionId))).toEqual(["host__Read", "load_skill"]),
    );
    answerRequests(client, "builtin_call", () => ({ result: { text: "const a = 1;" } }));
    await client.requestResult("session/prompt", prompt(readText(sessionId)));
    await client.requestResult("session/heartbeat", { sessionId, clientId: "tui" });
    expect(count(client, "host/tools/list")).toBe(1);
    expect(count(client, "host/call")).toBe(1);
    expect(count(client, "skills/list")).toBe(1);
  });

  it("Missing replies to the list requests do not delay the host [B-022]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    // The fake clock does not advance.
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

  it("A host without list methods has no tools, shells and skills, and no note is logged [B-022]", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const client = await connectAcpClient(world.sessions, {
      clock: createFakeClock(),
      updates: "bridge",
    });
    const error = { code: -32601, message: "Method not found" };
    for (const method of ["host/tools/list", "host/call", "skills/list"])
      answerRequests(client, method, () => ({ error }));
    await client.request("initialize");
    const { sessionId } = await client.requestResult("session/new", SETUP);
    await client.requestResult("session/prompt", prompt(readText(sessionId)));
    expect(client.notes).toEqual([]);
  });
});
