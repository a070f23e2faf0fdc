import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { readPackageVersion } from "../../../src/platform/package-version.ts";
import { serveAcp } from "../../../src/surfaces/acp/connection/serve-acp.ts";
import { encodeSettings } from "../../../src/wire/acp/decode/session-mode-messages.ts";
import { connectAcpClient, readText, USER, type Message } from "../../support/acp/acp-client.ts";
import { createScriptedSessions } from "../../support/session/scripted-sessions.ts";
import { echoTurn, textEvents } from "../../support/acp/scripted-turns.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

function prompt(sessionId: string, text: string): unknown {
  return { sessionId, prompt: [{ type: "text", text }] };
}

function listTexts(updates: readonly Message[]): string[] {
  return updates.flatMap(({ sessionUpdate, content }) =>
    isObject(content) ? [`${readText(sessionUpdate)}: ${readText(content["text"])}`] : [],
  );
}

const ENDED = { stopReason: "end_turn" };
const QUEUED = { _meta: { harn: { queued: true } } };

function promptOf(event: object): unknown {
  return "promptId" in event ? event.promptId : undefined;
}

function errorCode({ error }: Message): unknown {
  return isObject(error) ? error["code"] : undefined;
}

describe("Handshake", () => {
  it.each([1, 2, 99])(
    "A client that requests version %i gets version 1 [ACP-21] [ACP-23] [W-29]",
    async (version) => {
      const client = await connectAcpClient(createScriptedSessions());
      expect(await client.requestResult("initialize", { protocolVersion: version })).toEqual({
        protocolVersion: 1,
        agentInfo: { name: "spanline", title: "Spanline", version: readPackageVersion() },
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: {
            resume: {},
            fork: {},
            list: {},
            close: {},
            delete: {},
            additionalDirectories: {},
          },
          _meta: { harn: expect.anything() },
        },
        authMethods: [expect.objectContaining({ id: "environment" })],
        _meta: { steering: { supported: true } },
      });
    },
  );

  it("Initialize must be first, and a request directly after it is served [ACP-22]", async () => {
    const client = await connectAcpClient(createScriptedSessions());
    expect(errorCode(await client.request("session/new", SETUP))).toBe(-32600);
    const [, created] = await Promise.all([
      client.request("initialize", { protocolVersion: 1 }),
      client.requestResult("session/new", SETUP),
    ]);
    expect(created).toEqual({ sessionId: "ses_1", ...encodeSettings("default") });
  });

  it("Initialize can be repeated [ACP-31]", async () => {
    const client = await connectAcpClient(createScriptedSessions({ turn: echoTurn }));
    const sessionId = await client.newSession();
    await client.request("initialize", { protocolVersion: 1 });
    const answer = await client.requestResult("session/prompt", prompt(sessionId, "still there?"));
    expect(answer).toEqual({ stopReason: "end_turn" });
  });
});

describe("Client messages", () => {
  it("Malformed lines are answered line by line [ACP-5] [ACP-6] [ACP-7] [ACP-8]", async () => {
    const client = await connectAcpClient(createScriptedSessions());
    client.sendText('{"jsonrpc":\n[]\r\n\n');
    client.sendText('{"jsonrpc":"2.0","id":"stray","result":{}}\n');
    client.sendText('{"jsonrpc":"2.0","method":"$/unknown"}\n');
    expect(errorCode(await client.request("session/unknown"))).toBe(-32601);
    expect(client.messages.map(errorCode)).toEqual([-32700, -32600, -32601]);
    expect(client.messages.map(({ id }) => id)).toEqual([null, null, 1]);
  });

  it("The messages of a batch are answered separately [ACP-6]", async () => {
    const client = await connectAcpClient(createScriptedSessions({ turn: echoTurn }));
    const sessionId = await client.newSession();
    const ask = (id: number, method: string, params: unknown) => ({ id, method, params });
    const batch = [
      ask(11, "session/prompt", prompt(sessionId, "hello")),
      { method: "_some/notification" },
      ask(12, "session/unknown", {}),
      ask(13, "session/list", {}),
    ];
    client.sendText(`${JSON.stringify(batch)}\n`);
    const answers = await Promise.all(
      [11, 12, 13].map((id) => client.waitForMessage((one) => one["id"] === id)),
    );
    expect(answers[0]?.["result"]).toEqual({ stopReason: "end_turn" });
    expect(answers.map(errorCode)).toEqual([undefined, -32601, undefined]);
  });

  it("A message may arrive byte by byte [ACP-4]", async () => {
    const client = await connectAcpClient(createScriptedSessions());
    client.socket.setNoDelay(true);
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":"🚀","method":"initialize"}\r\n');
    for (const byte of bytes) client.socket.write(Buffer.of(byte));
    expect((await client.waitForMessage(({ id }) => id === "🚀"))["result"]).toBeDefined();
  });

  it("A line over the limit is rejected and the next line is read [ACP-16]", async () => {
    const client = await connectAcpClient(createScriptedSessions());
    client.sendText(`"${"x".repeat(17 * 1024 * 1024)}"\n`);
    expect(await client.requestResult("initialize")).toMatchObject({ protocolVersion: 1 });
    expect(client.messages.map(errorCode)).toEqual([-32600, undefined]);
  });

  it("An unknown session and a session of another user are not found [ACP-58]", async () => {
    const sessions = createScriptedSessions();
    const { sessionId } = await sessions.open({ principal: { id: "another", rights: [] } });
    const client = await connectAcpClient(sessions);
    await client.newSession();
    for (const [method, id] of [
      ["session/load", "nowhere"],
      ["session/load", sessionId],
      ["session/prompt", sessionId],
    ] as const) {
      const answer = await client.request(method, {
        sessionId: id,
        ...SETUP,
        prompt: [{ type: "text", text: "a" }],
      });
      expect(answer["error"]).toMatchObject({ code: -32002, data: { sessionId: id } });
    }
  });
});

describe("Prompt", () => {
  it("The response follows all updates of the turn, and the prompt is not echoed [ACP-67] [ACP-72]", async () => {
    const client = await connectAcpClient(createScriptedSessions({ turn: echoTurn }));
    const sessionId = await client.newSession();
    const result = await client.requestResult("session/prompt", prompt(sessionId, "hello"));
    expect(result).toEqual({ stopReason: "end_turn" });
    expect(client.messages.slice(2).map(({ method, id }) => method ?? id)).toEqual([
      "session/update",
      "session/update",
      "session/update",
      "session/update",
      3,
    ]);
    expect(listTexts(client.listUpdates())).toEqual([
      "agent_message_chunk: You said: ",
      "agent_message_chunk: hello",
    ]);
  });

  it("A prompt of another client is sent as an update", async () => {
    const sessions = createScriptedSessions({ turn: echoTurn });
    const one = await connectAcpClient(sessions);
    const sessionId = await one.newSession();
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { sessionId, ...SETUP });
    await one.requestResult("session/prompt", prompt(sessionId, "hello"));
    await other.waitForMessage(() => listTexts(other.listUpdates()).length === 3);
    expect(listTexts(other.listUpdates())).toEqual([
      "user_message_chunk: hello",
      "agent_message_chunk: You said: ",
      "agent_message_chunk: hello",
    ]);
  });

  it("A prompt to a session that was not loaded resumes the session without a replay", async () => {
    const sessions = createScriptedSessions({ turn: echoTurn });
    const before = await connectAcpClient(sessions);
    const sessionId = await before.newSession();
    await before.requestResult("session/prompt", prompt(sessionId, "first"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await client.requestResult("session/prompt", prompt(sessionId, "second"));
    expect(listTexts(client.listUpdates())).toEqual([
      "agent_message_chunk: You said: ",
      "agent_message_chunk: second",
    ]);
  });

  it("A failed turn is an error response, and the next prompt works [ACP-70]", async () => {
    let turns = 0;
    const client = await connectAcpClient(
      createScriptedSessions({
        turn: (turn) => ((turns += 1) === 1 ? turn.end("failed") : echoTurn(turn)),
      }),
    );
    const sessionId = await client.newSession();
    expect(errorCode(await client.request("session/prompt", prompt(sessionId, "a")))).toBe(-32603);
    const next = await client.requestResult("session/prompt", prompt(sessionId, "b"));
    expect(next).toEqual({ stopReason: "end_turn" });
  });

  it("A queued prompt gets its own response with the queued mark [ACP-68] [ACP-79]", async () => {
    let isAll = (): void => {};
    const all = new Promise<void>((resolve) => (isAll = resolve));
    const sessions = createScriptedSessions({
      turn: (turn) => void all.then(() => echoTurn(turn)),
    });
    const command = sessions.command.bind(sessions);
    let taken = 0;
    sessions.command = async (...args) => {
      const reply = await command(...args);
      if (args[1].type === "prompt" && (taken += 1) === 3) isAll();
      return reply;
    };
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answers = await Promise.all(
      ["a", "b", "c"].map((text) => client.request("session/prompt", prompt(sessionId, text))),
    );
    expect(answers.map(({ id, result }) => ({ id, result }))).toEqual(
      [3, 4, 5].map((id) => ({ id, result: id === 3 ? ENDED : { ...ENDED, ...QUEUED } })),
    );
  });

  it("A queued prompt is reported to bridge hosts [ACP-79]", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient(sessions);
    await client.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const id = readText(sessionId);
    const answers = ["a", "b"].map((text) => client.request("session/prompt", prompt(id, text)));
    const notification = await client.waitForMessage(({ params }) =>
      JSON.stringify(params ?? "").includes('"queued"'),
    );
    const second = sessions.readLog(id).findLast(({ event }) => event.type === "prompt.accepted");
    expect(notification["params"]).toMatchObject({
      update: {
        sessionUpdate: "session_info_update",
        _meta: { harn: { queued: { promptId: second?.event && promptOf(second.event) } } },
      },
    });
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    const [first, next] = await Promise.all(answers);
    expect(first?.["result"]).toEqual({ stopReason: "cancelled" });
    expect(next?.["result"]).toEqual({ stopReason: "cancelled", ...QUEUED });
  });
});

describe("Cancel", () => {
  it("A cancel of a prompt whose turn just started ends exactly this turn", async () => {
    const sessions = createScriptedSessions();
    const subscribe = sessions.subscribe.bind(sessions);
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    let isFirst = true;
    sessions.subscribe = async function* (...taken) {
      const isHeld = isFirst;
      isFirst = false;
      for await (const batch of subscribe(...taken)) {
        // The client's connection has not received the start of the turn yet.
        if (isHeld && batch.events.some(({ event }) => event.type === "turn.started")) await gate;
        yield batch;
      }
    };
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId, "wait"));
    await sessions.waitForCommand("prompt");
    const turnId = sessions.readTurnId(sessionId);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect(await sessions.waitForCommand("cancel")).toEqual({ type: "cancel", turnId });
    open();
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
  });

  it("A repeated cancel answers the prompt once as cancelled [ACP-105] [ACP-110]", async () => {
    const client = await connectAcpClient(
      createScriptedSessions({ turn: (turn) => turn.say(...textEvents("m", "thinking")) }),
    );
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId, "go"));
    await client.waitForMessage(() => client.listUpdates().length > 0);
    for (let times = 0; times < 3; times++) {
      client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    }
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    await client.request("initialize");
    expect(client.messages.filter(({ id }) => id === 3)).toHaveLength(1);
  });

  it("A cancel directly after its prompt cancels the prompt", async () => {
    const client = await connectAcpClient(createScriptedSessions());
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId, "go"));
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
  });

  it("A cancel withdraws the client's queued prompts and does not end another client's turn", async () => {
    const sessions = createScriptedSessions();
    const one = await connectAcpClient(sessions);
    const sessionId = await one.newSession();
    const running = one.request("session/prompt", prompt(sessionId, "long"));
    await sessions.waitForCommand("prompt");
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    const waiting = other.request("session/prompt", prompt(sessionId, "next"));
    other.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await waiting)["result"]).toEqual({ stopReason: "cancelled", ...QUEUED });
    expect(sessions.readTurnId(sessionId)).toBeDefined();
    one.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await running)["result"]).toEqual({ stopReason: "cancelled" });
  });

  it("A cancel keeps queued prompts from starting", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answers = ["a", "b"].map((text) =>
      client.requestResult("session/prompt", prompt(sessionId, text)),
    );
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    const cancelled = { stopReason: "cancelled" };
    expect(await Promise.all(answers)).toEqual([cancelled, { ...cancelled, ...QUEUED }]);
    const begun = sessions.readLog(sessionId).filter(({ event }) => event.type === "turn.started");
    expect(begun).toHaveLength(1);
  });

  it("A cancel without a running turn has no effect [ACP-107]", async () => {
    const client = await connectAcpClient(createScriptedSessions());
    const sessionId = await client.newSession();
    for (const id of [sessionId, "nowhere"]) {
      client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: id } });
    }
    await client.request("initialize");
    expect(client.messages.flatMap(({ id = [] }) => id)).toEqual([1, 2, 3]);
  });

  it("A cancel reaches the session even if its client does not read", async () => {
    const sessions = createScriptedSessions({
      turn: (turn) =>
        turn.say(...textEvents("m", ...Array.from({ length: 500 }, () => "x".repeat(8000)))),
    });
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    client.socket.pause();
    const answer = client.request("session/prompt", prompt(sessionId, "go"));
    await sessions.waitForCommand("prompt");
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    await sessions.waitForCommand("cancel");
    client.socket.resume();
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
  });
});

describe("Load", () => {
  it("A load replays the whole session before its response [ACP-54]", async () => {
    const sessions = createScriptedSessions({ turn: echoTurn });
    const before = await connectAcpClient(sessions);
    const sessionId = await before.newSession();
    await before.requestResult("session/prompt", prompt(sessionId, "hello"));
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await client.requestResult("session/load", { sessionId, ...SETUP });
    expect(listTexts(client.listUpdates())).toEqual([
      "user_message_chunk: hello",
      "agent_message_chunk: You said: hello",
    ]);
    // Only the list of slash commands follows the response.
    expect(client.messages.at(-2)).toMatchObject({ id: 2, result: {} });
  });

  it("A load during a turn continues without gap or repetition [ACP-60]", async () => {
    const sessions = createScriptedSessions();
    const before = await connectAcpClient(sessions);
    const sessionId = await before.newSession();
    const answer = before.request("session/prompt", prompt(sessionId, "count"));
    await sessions.waitForCommand("prompt");
    const place = { messageId: "m", block: 0 };
    sessions.say(sessionId, { type: "text.delta", ...place, text: "one " });
    const client = await connectAcpClient(sessions);
    await client.request("initialize");
    await client.requestResult("session/load", { sessionId, ...SETUP });
    sessions.say(
      sessionId,
      { type: "text.delta", ...place, text: "two" },
      { type: "text.finished", ...place, text: "one two" },
    );
    await client.waitForMessage(() => listTexts(client.listUpdates()).length >= 3);
    expect(listTexts(client.listUpdates())).toEqual([
      "user_message_chunk: count",
      "agent_message_chunk: one ",
      "agent_message_chunk: two",
    ]);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
  });

  it("A load can be repeated, and the pending prompt keeps its response", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId, "go"));
    await sessions.waitForCommand("prompt");
    await client.requestResult("session/load", { sessionId, ...SETUP });
    expect(listTexts(client.listUpdates())).toEqual(["user_message_chunk: go"]);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    expect(sessions.commands.filter(({ command }) => command.type === "attach")).toHaveLength(1);
  });
});

describe("Repeated load", () => {
  it("A failing end of the previous subscription does not affect the pending prompt", async () => {
    const sessions = createScriptedSessions();
    const subscribe = sessions.subscribe.bind(sessions);
    sessions.subscribe = async function* (...taken) {
      yield* subscribe(...taken);
      throw new Error("The store was asked too late");
    };
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    const answer = client.request("session/prompt", prompt(sessionId, "go"));
    await sessions.waitForCommand("prompt");
    await client.requestResult("session/load", { sessionId, ...SETUP });
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await answer)["result"]).toEqual({ stopReason: "cancelled" });
    expect(client.notes).toEqual([]);
  });
});

describe("Sessions on one connection", () => {
  it("Updates of a session are never sent for another session [B-015] [ACP-78]", async () => {
    const client = await connectAcpClient(createScriptedSessions({ turn: echoTurn }));
    const one = await client.newSession();
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const two = readText(sessionId);
    await Promise.all([
      client.requestResult("session/prompt", prompt(one, "for one")),
      client.requestResult("session/prompt", prompt(two, "for two")),
    ]);
    expect(listTexts(client.listUpdates(one)).join(" ")).toContain("for one");
    expect(listTexts(client.listUpdates(one)).join(" ")).not.toContain("for two");
    expect(listTexts(client.listUpdates(two)).join(" ")).toContain("for two");
    expect(listTexts(client.listUpdates(two)).join(" ")).not.toContain("for one");
  });

  it("No update of a session precedes its id [ACP-42]", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient({
      ...sessions,
      async open(options) {
        const record = await sessions.open(options);
        sessions.say(record.sessionId, { type: "session.title_changed", title: "New" });
        return record;
      },
    });
    await client.newSession();
    await client.waitForMessage(() => client.listUpdates().length > 0);
    expect(client.messages.slice(0, 2).map(({ id }) => id)).toEqual([1, 2]);
  });
});

describe("Several clients", () => {
  it("The first client controls and the second client observes", async () => {
    const sessions = createScriptedSessions();
    const one = await connectAcpClient(sessions);
    const sessionId = await one.newSession();
    const other = await connectAcpClient(sessions);
    await other.request("initialize");
    await other.requestResult("session/load", { sessionId, ...SETUP });
    const attached = sessions.readLog(sessionId).flatMap(({ event }) => {
      return event.type === "client.attached" ? [`${event.name} ${event.mode}`] : [];
    });
    expect(attached).toEqual(["test controller", "ACP client observer"]);
  });

  it("A client with the latest-session option gets the newest session with its history", async () => {
    const sessions = createScriptedSessions({ turn: echoTurn });
    const one = await connectAcpClient(sessions);
    await one.newSession();
    const { sessionId: newest } = await one.requestResult("session/new", SETUP);
    await one.requestResult("session/prompt", prompt(readText(newest), "hello"));
    const other = await connectAcpClient(sessions, { session: "latest" });
    expect(await other.newSession()).toBe(newest);
    await other.waitForMessage(() => listTexts(other.listUpdates()).length === 2);
    expect(other.messages.map(({ method, id }) => method ?? id)).toEqual([
      1,
      2,
      "session/update",
      "session/update",
      "session/update",
      "session/update",
    ]);
    expect(await other.requestResult("session/new", SETUP)).toMatchObject({
      sessionId: newest,
    });
  });

  it("A client gets a new session if there is none, or the session that it names", async () => {
    const sessions = createScriptedSessions();
    const first = await connectAcpClient(sessions, { session: "latest" });
    const sessionId = await first.newSession();
    await (await connectAcpClient(sessions)).newSession();
    const named = await connectAcpClient(sessions, { session: sessionId });
    expect(await named.newSession()).toBe(sessionId);
    const lost = await connectAcpClient(sessions, { session: "nowhere" });
    await lost.request("initialize");
    expect(errorCode(await lost.request("session/new", SETUP))).toBe(-32002);
  });

  it("A client that stops reading does not delay other clients, and receives all updates later [ACP-126]", async () => {
    const pieces = Array.from({ length: 2000 }, (_, index) => `${index} ${"x".repeat(4000)}`);
    const sessions = createScriptedSessions({
      turn(turn) {
        turn.say(...textEvents("m", ...pieces));
        turn.end();
      },
    });
    const slow = await connectAcpClient(sessions);
    const sessionId = await slow.newSession();
    slow.socket.pause();
    const answer = slow.request("session/prompt", prompt(sessionId, "go"));
    await sessions.waitForCommand("prompt");
    const quick = await connectAcpClient(sessions);
    await quick.request("initialize");
    await quick.requestResult("session/load", { sessionId, ...SETUP });
    expect(slow.listUpdates()).toEqual([]);
    slow.socket.resume();
    await answer;
    expect(listTexts(slow.listUpdates())).toEqual(
      pieces.map((piece) => `agent_message_chunk: ${piece}`),
    );
  });
});

describe("Backpressure for a client that does not read", () => {
  it("The queue for the client is bounded [ACP-14]", async () => {
    const sessions = createScriptedSessions();
    const { sessionId } = await sessions.open({ principal: USER });
    for (let index = 0; index < 1000; index++) {
      sessions.say(sessionId, ...textEvents(`m${index}`, "x".repeat(8000)));
    }
    const [input, output] = [new PassThrough(), new PassThrough()];
    const stop = new AbortController();
    const served = serveAcp({
      sessions,
      input,
      output,
      principal: USER,
      log: () => {},
      signal: stop.signal,
      clock: { ...systemClock, schedule: (_, run) => systemClock.schedule(1, run) },
    });
    input.write('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    input.write(
      `{"jsonrpc":"2.0","id":2,"method":"session/load","params":{"sessionId":"${sessionId}","cwd":"/"}}\n`,
    );
    await sessions.waitForCommand("attach");
    await new Promise((resolve) => {
      setImmediate(() => setImmediate(resolve));
    });
    expect(output.writableLength + output.readableLength).toBeLessThan(600 * 1024);
    stop.abort();
    await served;
  });
});

describe("Backpressure for a client with many sessions", () => {
  it("The queue for 50 sessions has the same bound [ACP-14]", async () => {
    const sessions = createScriptedSessions();
    const [input, output] = [new PassThrough(), new PassThrough()];
    const stop = new AbortController();
    const served = serveAcp({
      sessions,
      input,
      output,
      principal: USER,
      log: () => {},
      signal: stop.signal,
      clock: { ...systemClock, schedule: (_, run) => systemClock.schedule(1, run) },
    });
    input.write('{"jsonrpc":"2.0","id":0,"method":"initialize"}\n');
    const ids: string[] = [];
    for (let count = 1; count <= 50; count += 1) {
      const { sessionId } = await sessions.open({ principal: USER });
      ids.push(sessionId);
      const params = { sessionId, cwd: "/" };
      input.write(`${JSON.stringify({ id: count, method: "session/load", params })}\n`);
    }
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
    };
    await turns(20);
    for (const sessionId of ids) sessions.say(sessionId, ...textEvents("m", "x".repeat(200_000)));
    await turns(20);
    expect(output.writableLength + output.readableLength).toBeLessThan(1_200_000);
    // Space for one session's update must not release the updates of all sessions.
    output.read();
    await turns(20);
    expect(output.writableLength + output.readableLength).toBeLessThan(1_200_000);
    stop.abort();
    await served;
  });
});

describe("End of a connection", () => {
  it("The client is detached and its turn continues [ACP-125]", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    client.send({
      jsonrpc: "2.0",
      id: 3,
      method: "session/prompt",
      params: prompt(sessionId, "go on"),
    });
    await sessions.waitForCommand("prompt");
    client.socket.end();
    await client.done;
    expect(sessions.commands.map(({ command }) => command.type)).toEqual([
      "attach",
      "prompt",
      "detach",
    ]);
    expect(sessions.readTurnId(sessionId)).toBeDefined();
  });

  it("All earlier requests are served before the connection ends", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient(sessions);
    client.sendText('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    client.sendText('{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/"}}');
    client.socket.end();
    await client.waitForMessage(({ id }) => id === 2);
    await client.done;
    expect(sessions.commands.map(({ command }) => command.type)).toEqual(["attach", "detach"]);
  });

  it("A broken connection detaches the client [ACP-11]", async () => {
    const sessions = createScriptedSessions();
    const client = await connectAcpClient(sessions);
    const sessionId = await client.newSession();
    client.socket.destroy();
    await client.done;
    expect(sessions.readLog(sessionId).at(-1)?.event.type).toBe("client.detached");
  });

  it("The server can end the connection", async () => {
    const stop = new AbortController();
    const client = await connectAcpClient(createScriptedSessions(), { signal: stop.signal });
    await client.newSession();
    stop.abort();
    await expect(client.done).resolves.toBeUndefined();
  });
});
