import { describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../../test/support/fake-clock.ts";
import { SpanlineError, type ErrorCode } from "../../domain/errors.ts";
import type { JsonObject, JsonValue } from "../../data/json.ts";
import type { Client, ClientOptions, SessionNotification } from "./client.ts";
import { createClient } from "./create-client.ts";
import { createHost } from "../methods/create-host.ts";
import type { ConnectionState } from "../connection/reconnecting-connection.ts";
import type { PromptRun } from "./prompt-run.ts";
import { createMemoryTransports } from "../transports/memory-transport.ts";
import type { Transport } from "../transports/transport.ts";
import { createScriptedRuntime, type ScriptedRuntimeOptions } from "../scripted-runtime.ts";

const PLACE = { workingDirectory: "/" };

function world(script: ScriptedRuntimeOptions = {}, options: ClientOptions = {}) {
  const runtime = createScriptedRuntime(script);
  const notifications: SessionNotification[] = [];
  const reports: string[] = [];
  const client = createClient(runtime.connect, {
    reconnect: { first: 1, longest: 1 },
    onUpdate: (notification) => notifications.push(notification),
    report: (message, { problem }) => reports.push(`${message}: ${String(problem)}`),
    ...options,
  });
  onTestFinished(() => client.close());
  return { runtime, client, notifications, reports };
}

function vendor(name: string, fields: JsonObject): JsonObject {
  return { sessionUpdate: name, _meta: { harn: fields } };
}

describe("Updates and responses from the agent", () => {
  it("Unknown updates and notifications are ignored, reported once, and later updates still arrive [B-024] [B-060]", async () => {
    const { client, runtime, notifications, reports } = world({
      turn({ update, say, sessionId }) {
        update(vendor("of_tomorrow", {}));
        update(vendor("of_tomorrow", {}));
        runtime.notify("_harn/agentEvent", { sessionId, kind: "of_tomorrow" });
        runtime.notify("of/tomorrow", {});
        say("Still here");
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    await client.prompt(sessionId, "Hi").result;
    expect(notifications.map(({ update }) => update.type)).toEqual(["agent-text"]);
    expect(reports).toHaveLength(3);
  });

  it("Bridge updates are delivered only if the agent declared their names at initialize [B-025]", async () => {
    const turn: ScriptedRuntimeOptions["turn"] = ({ update }) => {
      update(vendor("progress", { message: "1 of 2" }));
      update(vendor("log", { message: "hm" }));
    };
    for (const extensions of [["progress"], ["log"], []]) {
      const { client, notifications } = world({ turn, extensions });
      const { sessionId } = await client.newSession(PLACE);
      await client.prompt(sessionId, "Hi").result;
      const names = notifications.map(({ update }) => update.type === "extension" && update.name);
      expect(names).toEqual(extensions);
    }
  });

  it("Each prompt receives exactly the updates of its turn", async () => {
    let turns = 0;
    const { client } = world({
      turn({ say }) {
        turns += 1;
        for (let piece = 0; piece < 50; piece += 1) say(`${turns}`);
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    const runs = [1, 2, 3].map(() => client.prompt(sessionId, "Hi"));
    const texts = await Promise.all(
      runs.map(async (run) => {
        let text = "";
        for await (const update of run) if (update.type === "agent-text") text += update.text;
        return text;
      }),
    );
    expect(texts).toEqual(["1", "2", "3"].map((digit) => digit.repeat(50)));
  });

  it("An exception in the caller's onUpdate does not affect the prompt", async () => {
    const { client } = world(
      { turn: ({ say }) => say("Hi") },
      {
        onUpdate() {
          throw new Error("broken screen");
        },
      },
    );
    const { sessionId } = await client.newSession(PLACE);
    expect(await client.prompt(sessionId, "Hi").result).toEqual({
      reason: "end_turn",
      usage: null,
    });
  });

  it("After a reconnect the session resumes from the cursor of its last update", async () => {
    const { client, runtime } = world();
    const { sessionId } = await client.newSession(PLACE);
    const update = { sessionUpdate: "session_info_update", title: "A" };
    runtime.notify("session/update", { sessionId, update, _meta: { harn: { cursor: "c7" } } });
    runtime.notify("session/update", { sessionId, update, _meta: { harn: { cursor: "c8" } } });
    await client.setMode(sessionId, "ask").catch(() => {});
    runtime.drop();
    await client.resumeSession("ses_other", PLACE);
    expect(runtime.receivedMessages).toContainEqual(
      expect.objectContaining({
        method: "session/resume",
        params: {
          sessionId,
          cwd: "/",
          mcpServers: [],
          _meta: { harn: { cursor: "c8" } },
        },
      }),
    );
  });
});

/** Refuses every resume request with a cursor. */
function refusing(code: ErrorCode): ScriptedRuntimeOptions {
  return {
    answer(method, params) {
      const hasPlace = JSON.stringify(params).includes('"cursor"');
      if (!hasPlace || method !== "session/resume") return undefined;
      throw new SpanlineError(code, "refused");
    },
  };
}

/** Opens a session, sends updates with a cursor, and reconnects once. */
async function reconnect(script: ScriptedRuntimeOptions, options: ClientOptions = {}) {
  let connected = (): void => {};
  const all = world(script, {
    ...options,
    onState: ({ type }) => type === "connected" && connected(),
  });
  const { client, runtime } = all;
  const { sessionId } = await client.newSession(PLACE);
  const update = { sessionUpdate: "session_info_update", title: "A" };
  runtime.sendUpdate(sessionId, update);
  runtime.notify("session/update", { sessionId, update, _meta: { harn: { cursor: "c7" } } });
  await client.listSessions().catch(() => {});
  const lose = (): Promise<void> => {
    const again = new Promise<void>((resolve) => (connected = resolve));
    runtime.drop();
    return again;
  };
  const listOpenRequests = (): (JsonValue | undefined)[] =>
    runtime.receivedMessages.flatMap(({ method, params }) =>
      /load|resume/.test(method) ? [method, params ?? null] : [],
    );
  await lose();
  return { ...all, sessionId, lose, listOpenRequests };
}

describe("A client whose cursor the agent refuses", () => {
  const place = { cwd: "/", mcpServers: [] };
  const from = { ...place, _meta: { harn: { cursor: "c7" } } };

  it.each(["cursor_gone", "cursor_ahead", "validation_failed"] as const)(
    "The session is resumed without a cursor and missing updates are reported (%s) [W-48]",
    async (code) => {
      const { sessionId, listOpenRequests, lose, reports } = await reconnect(refusing(code));
      const plain = ["session/resume", { sessionId, ...place }];
      expect(listOpenRequests()).toEqual(["session/resume", { sessionId, ...from }, ...plain]);
      expect(reports).toContainEqual(expect.stringContaining("may be missing"));
      await lose();
      expect(listOpenRequests().slice(4)).toEqual(plain);
    },
  );

  it("The session is loaded again if the program handles onHistory [W-48]", async () => {
    const seen: string[] = [];
    const { sessionId, listOpenRequests } = await reconnect(refusing("cursor_gone"), {
      onHistory: (_, state) => seen.push(state),
      onUpdate: ({ isHistory }) => seen.push(isHistory ? "history" : "news"),
    });
    expect(listOpenRequests().slice(2)).toEqual(["session/load", { sessionId, ...place }]);
    expect(seen).toEqual(["news", "news", "begins", "history", "ends"]);
  });

  it("A session that no longer exists is forgotten after a resume with a cursor", async () => {
    const { lose, listOpenRequests, reports } = await reconnect(refusing("not_found"));
    expect(reports).toContainEqual(expect.stringContaining("could not be resumed"));
    expect(listOpenRequests()).toHaveLength(2);
    await lose();
    expect(listOpenRequests()).toHaveLength(2);
  });

  it("A resume refused for another reason is tried again on the next connection", async () => {
    const { sessionId, lose, listOpenRequests, reports } = await reconnect(
      refusing("service_failed"),
    );
    expect(reports).toContainEqual(expect.stringContaining("could not be resumed"));
    await lose();
    const again = ["session/resume", { sessionId, ...from }];
    expect(listOpenRequests()).toEqual([...again, ...again]);
  });
});

describe("Additional folders of a session", () => {
  it("Additional folders are sent again with the resume and returned by listSessions", async () => {
    const listed = { sessionId: "ses_1", cwd: "/work", additionalDirectories: ["/library"] };
    const { client, runtime } = world({
      answer: (method) => (method === "session/list" ? { sessions: [listed] } : undefined),
    });
    await client.newSession({ workingDirectory: "/work", folders: ["/library"] });
    runtime.drop();
    expect(await client.listSessions()).toEqual({
      sessions: [
        {
          sessionId: "ses_1",
          workingDirectory: "/work",
          folders: ["/library"],
          state: null,
          title: null,
          updatedAt: null,
        },
      ],
    });
    const setups = runtime.receivedMessages.filter(({ method }) => /new|resume/.test(method));
    const { sessionId: _, ...place } = { ...listed, mcpServers: [] };
    expect(setups.map(({ method, params }) => [method, params])).toEqual([
      ["session/new", place],
      ["session/resume", { sessionId: "ses_1", ...place }],
    ]);
  });
});

describe("Loading a session", () => {
  it("onHistory begins and ends with each load attempt, also when the connection is lost meanwhile", async () => {
    const seen: string[] = [];
    let loads = 0;
    const { client, runtime } = world(
      {
        turn: ({ say }) => say("Hi"),
        answer(method) {
          if (method !== "session/load") return undefined;
          loads += 1;
          // The connection is lost during the replay.
          if (loads === 1) void Promise.resolve().then(() => runtime.drop());
          return undefined;
        },
      },
      {
        onHistory: (_, state) => seen.push(state),
        onUpdate: ({ update, isHistory }) => seen.push(`${update.type} ${isHistory}`),
      },
    );
    await client.prompt("ses_1", "Hi").result;
    await client.loadSession("ses_1", PLACE);
    runtime.sendUpdate("ses_1", { sessionUpdate: "session_info_update", title: "News" });
    await client.resumeSession("ses_1", PLACE);
    expect(loads).toBe(2);
    const whole = ["begins", "agent-text true", "ends"];
    expect(seen).toEqual(["agent-text false", ...whole, ...whole, "info false"]);
  });
});

describe("A client without its agent", () => {
  it("Reconnect delays grow with jitter, and the client gives up after the last attempt", async () => {
    const clock = createFakeClock();
    const states: ConnectionState[] = [];
    let isHere = true;
    let changed = (): void => {};
    const runtime = createScriptedRuntime();
    const client = createClient(
      () => {
        if (!isHere) throw new Error("nobody there");
        return runtime.connect();
      },
      {
        clock,
        random: () => 0.5,
        reconnect: { first: 100, longest: 300, attempts: 4 },
        onState(state) {
          states.push(state);
          changed();
        },
      },
    );
    await client.initialize();
    isHere = false;
    runtime.drop();
    while (states.at(-1)?.type !== "closed") {
      await new Promise<void>((resolve) => {
        changed = resolve;
        clock.advance(1000);
      });
    }
    expect(states.map((state) => (state.type === "lost" ? state.retryMs : state.type))).toEqual([
      "connected",
      75,
      150,
      225,
      225,
      "closed",
    ]);
    await expect(client.newSession(PLACE)).rejects.toMatchObject({ code: "connect_failed" });
    expect(clock.pending).toBe(0);
  });

  it("Initialize rejects with connection_lost if the agent never responds", async () => {
    const clock = createFakeClock();
    const [silent] = createMemoryTransports();
    const client = createClient(silent, { clock });
    const agent = client.initialize();
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(60_000);
    await expect(agent).rejects.toMatchObject({ code: "connection_lost" });
  });

  it("A client created with a single transport does not reconnect", async () => {
    const runtime = createScriptedRuntime();
    const states: string[] = [];
    const client = createClient(runtime.connect(), { onState: ({ type }) => states.push(type) });
    await client.initialize();
    runtime.drop();
    await expect(client.resumeSession("s", PLACE)).rejects.toMatchObject({
      code: "connection_lost",
    });
    expect(states).toEqual(["connected", "closed"]);
  });

  it("Closing during a connection attempt takes effect at once, and a transport opened later is closed", async () => {
    const made = pending<Transport>();
    const states: string[] = [];
    const onState = ({ type }: ConnectionState): void => void states.push(type);
    const client = createClient(() => made.promise, { onState });
    const refusal = client.initialize().catch((error: unknown) => error);
    await client.close();
    expect(await refusal).toMatchObject({ code: "aborted" });
    expect(states).toEqual(["closed"]);
    const closed = pending();
    made.resolve({ ...createMemoryTransports()[0], close: closed.resolve });
    await closed.promise;
  });

  it("Closing the client rejects open prompts and all later requests", async () => {
    const { client } = world({ turn: () => new Promise(() => {}) });
    const { sessionId } = await client.newSession(PLACE);
    const { result } = client.prompt(sessionId, "Hi");
    await client.close();
    await expect(result).rejects.toMatchObject({ code: "connection_lost" });
    await expect(client.newSession(PLACE)).rejects.toMatchObject({ code: "aborted" });
    await client.close();
  });
});

describe("A repeated prompt", () => {
  it("A prompt sent again with the same id after a reconnect resolves with its result and all later updates [W-48]", async () => {
    let proceed = (): void => {};
    const isResumed = new Promise<void>((resolve) => (proceed = resolve));
    let turns = 0;
    const { client, runtime } = world({
      repeatsPrompts: true,
      async turn({ say }) {
        turns += 1;
        say("One ");
        await isResumed;
        say("two");
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    const run = client.prompt(sessionId, "Count");
    let text = "";
    for await (const update of run) {
      if (update.type === "agent-text") text += update.text;
      if (text !== "One ") continue;
      runtime.drop();
      await client.resumeSession(sessionId, PLACE);
      proceed();
    }
    expect([text, turns]).toEqual(["One two", 1]);
    expect(await run.result).toEqual({ reason: "end_turn", usage: null });
    const prompts = runtime.receivedMessages.filter(({ method }) => method === "session/prompt");
    expect(prompts).toHaveLength(2);
    expect(prompts[0]?.params).toEqual(prompts[1]?.params);
  });
});

describe("A cancelled prompt", () => {
  const ways = [
    ["by itself", (run: PromptRun) => run.cancel()],
    [
      "with its session",
      (_: PromptRun, client: Client, sessionId: string) => void client.cancel(sessionId),
    ],
  ] as const;

  it.each(ways)(
    "A prompt cancelled before it is sent resolves as cancelled and is never sent (cancelled %s)",
    async (_, cancel) => {
      let turns = 0;
      const { client, runtime } = world({ turn: () => void (turns += 1) });
      const { sessionId } = await client.newSession(PLACE);
      const run = client.prompt(sessionId, "Hi");
      cancel(run, client, sessionId);
      expect(await run.result).toEqual({ reason: "cancelled", usage: null });
      for await (const update of run) expect.unreachable(update.type);
      expect(await client.prompt(sessionId, "Again").result).toMatchObject({ reason: "end_turn" });
      expect(turns).toBe(1);
      const prompts = runtime.receivedMessages.filter(({ method }) => method === "session/prompt");
      expect(prompts).toMatchObject([{ params: { prompt: [{ text: "Again" }] } }]);
    },
  );

  it.each(ways)(
    "A prompt cancelled while disconnected is cancelled on the next connection (cancelled %s)",
    async (_, cancel) => {
      let turns = 0;
      const lost = pending();
      const { client, runtime } = world(
        {
          repeatsPrompts: true,
          turn({ signal, say }) {
            turns += 1;
            say("Well");
            return aborted(signal);
          },
        },
        { onState: ({ type }) => type === "lost" && lost.resolve() },
      );
      const { sessionId } = await client.newSession(PLACE);
      const run = client.prompt(sessionId, "Think");
      await run[Symbol.asyncIterator]().next();
      runtime.drop();
      await lost.promise;
      cancel(run, client, sessionId);
      expect(await run.result).toEqual({ reason: "cancelled", usage: null });
      expect(turns).toBe(1);
      expect(runtime.receivedMessages.map(({ method }) => method)).not.toContain("session/cancel");
    },
  );
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });
}

function pending<Value = void>() {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => (resolve = settle));
  return { resolve, promise };
}

/** Bytes. The largest message the agent of `narrowWorld` accepts. */
const MAX_MESSAGE_BYTES = 100 * 1024;

/** An agent whose connection closes after an oversized message, as a WebSocket's does. */
function narrowWorld(script: ScriptedRuntimeOptions, options: ClientOptions = {}) {
  const runtime = createScriptedRuntime(script);
  let connections = 0;
  const connect = (): Transport => {
    connections += 1;
    return narrow(runtime.connect());
  };
  const client = createClient(connect, { reconnect: { first: 1, longest: 1 }, ...options });
  onTestFinished(() => client.close());
  return { runtime, client, connections: () => connections };
}

function narrow(transport: Transport): Transport {
  let isTooLarge = false;
  async function* incoming(): Transport["incoming"] {
    yield* transport.incoming;
    if (isTooLarge) throw new SpanlineError("invalid_message", "1009");
  }
  return {
    ...transport,
    incoming: incoming(),
    send(line) {
      isTooLarge ||= Buffer.byteLength(line) > MAX_MESSAGE_BYTES;
      if (isTooLarge) transport.close();
      else transport.send(line);
    },
  };
}

describe("Requests to the agent", () => {
  it("A prompt longer than the line limit is rejected without being sent", async () => {
    const { client } = world();
    const { sessionId } = await client.newSession(PLACE);
    const { result } = client.prompt(sessionId, "x".repeat(17 * 1024 * 1024));
    await expect(result).rejects.toMatchObject({ code: "invalid_message" });
  });

  it("A message too large for the agent is rejected once per size, and other requests continue [W-48]", async () => {
    const { runtime, client, connections } = narrowWorld({ repeatsPrompts: true });
    const { sessionId } = await client.newSession(PLACE);
    const small = client.request("session/resume", { sessionId }, { repeatable: true });
    // Limits are measured in bytes, not characters.
    const large = client.prompt(sessionId, "é".repeat(MAX_MESSAGE_BYTES * 0.75)).result;
    await expect(large).rejects.toMatchObject({ code: "invalid_message" });
    expect(await small).toEqual({});
    expect(await client.prompt(sessionId, "Hi").result).toMatchObject({ reason: "end_turn" });
    expect(connections()).toBe(2);
    const again = client.prompt(sessionId, "x".repeat(MAX_MESSAGE_BYTES * 2)).result;
    await expect(again).rejects.toMatchObject({ code: "invalid_message" });
    expect(connections()).toBe(2);
    expect(
      runtime.receivedMessages.filter(({ method }) => method === "session/prompt"),
    ).toHaveLength(1);
  });

  it("A tool result too large for the agent is replaced by an error [W-48]", async () => {
    const tools = [{ name: "read", run: () => "x".repeat(MAX_MESSAGE_BYTES * 2) }];
    const { runtime, client, connections } = narrowWorld({}, { host: createHost({ tools }) });
    await client.newSession(PLACE);
    const call = (): Promise<JsonValue> =>
      runtime.request("builtin_call", {
        name: "read",
        args: {},
        _meta: { harn: { toolCallId: "1" } },
      });
    await expect(call()).rejects.toMatchObject({ code: "connection_lost" });
    await client.resumeSession("ses_1", PLACE);
    await expect(call()).rejects.toThrow("bytes");
    expect(connections()).toBe(2);
  });

  it("Aborting a request sends a cancellation to the agent", async () => {
    let onCancelled = (): void => {};
    const isCancelled = new Promise<void>((resolve) => (onCancelled = resolve));
    const { client } = world({
      turn({ signal }) {
        signal.addEventListener("abort", () => onCancelled());
        return new Promise(() => {});
      },
    });
    const { sessionId } = await client.newSession(PLACE);
    const controller = new AbortController();
    const params = { sessionId, prompt: [] };
    const answer = client.request("session/prompt", params, { signal: controller.signal });
    await client.resumeSession(sessionId, PLACE);
    controller.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    await expect(isCancelled).resolves.toBeUndefined();
  });

  it("A response without the expected fields rejects with unexpected_answer", async () => {
    const { client } = world({ answer: (method) => (method === "session/new" ? {} : undefined) });
    await expect(client.newSession(PLACE)).rejects.toMatchObject({ code: "unexpected_answer" });
  });
});
