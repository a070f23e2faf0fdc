import { describe, expect, it, onTestFinished } from "vitest";
import { isObject, type JsonObject } from "../../../src/data/json.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import {
  connectAcpClient,
  readText,
  USER,
  type AcpClient,
  type Message,
} from "../../support/acp/acp-client.ts";
import { startAcpServer } from "../../support/acp/acp-server.ts";
import { eventually } from "../../support/eventually.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions, createTool } from "../../support/session/session-world.ts";

const SETUP = { cwd: "/work", mcpServers: [] };

function world(...answers: readonly ProviderScript[]) {
  const provider = createScriptedProvider(answers);
  const ran: unknown[] = [];
  const save = createTool({ name: "save" }, (input) => {
    ran.push(input);
    return "saved";
  });
  const approvals = { deny: [], ask: ["save"], allow: [], default: "deny" } as const;
  const store = createMemoryStore();
  const sessions = openSessions(store, createAgent({ provider, tools: [save], approvals }));
  onTestFinished(() => sessions.close());
  return { sessions, store, ran };
}

async function host(sessions: ReturnType<typeof world>["sessions"]): Promise<AcpClient> {
  const client = await connectAcpClient(sessions);
  await client.request("initialize", { clientCapabilities: { _meta: { harn: {} } } });
  return client;
}

async function opened({ sessions }: Pick<ReturnType<typeof world>, "sessions">): Promise<string> {
  const { sessionId } = await sessions.open({ principal: USER, workingDirectory: "/work" });
  return sessionId;
}

function attach(sessionId: string, clientId: string, mode: string, more: JsonObject = {}) {
  return { sessionId, clientId, mode, ...more };
}

function prompt(sessionId: string, text: string): unknown {
  return { sessionId, prompt: [{ type: "text", text }] };
}

function errorCode({ error }: Message): unknown {
  return isObject(error) ? error["code"] : undefined;
}

function ids({ clients }: Message): unknown[] {
  return Array.isArray(clients)
    ? clients.map((one) => isObject(one) && `${String(one["client_id"])} ${String(one["mode"])}`)
    : [];
}

describe("Attach to a live session", () => {
  it("The result has the client, the controller and all clients [B-197] [B-206] [B-207] [B-208]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const tui = await host(here.sessions);
    await tui.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    const portal = await host(here.sessions);
    const answer = await portal.requestResult("session/attach", {
      sessionId,
      clientId: "portal",
      mode: "observer",
      takeover: false,
      _meta: { harn: { surface: "portal" } },
    });
    const seconds = expect.stringMatching(/^\d{10}$/);
    const client = {
      client_id: "portal",
      mode: "observer",
      attached_at: seconds,
      last_seen_at: seconds,
      prompt_injection: false,
      permission_routing: false,
      metadata: { surface: "portal" },
    };
    expect(answer).toEqual({
      client,
      previous_controller_id: "tui",
      active_controller_id: "tui",
      clients: [expect.objectContaining({ client_id: "tui", prompt_injection: true }), client],
    });
  });

  it.each([
    { mode: "owner" },
    { mode: "observer", clientId: "" },
    { mode: "observer", clientId: 7 },
    { mode: "observer", takeover: "yes" },
    { mode: "observer", sessionId: "" },
    { mode: "observer", clientId: undefined },
    { mode: "observer", _meta: { harn: { much: "x".repeat(16_384) } } },
  ])("An attach with %j is rejected [B-198]", async (wrong) => {
    const here = world(says("Hi"));
    const client = await host(here.sessions);
    const params = { sessionId: await opened(here), clientId: "tui", ...wrong };
    expect(errorCode(await client.request("session/attach", params))).toBe(-32602);
  });

  it("A client that attaches without a mode or with null is an observer [B-198]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    const answer = await client.requestResult("session/attach", { sessionId, clientId: "portal" });
    expect(ids(answer)).toEqual(["portal observer"]);
    const again = { sessionId, clientId: "portal", mode: null, takeover: null };
    expect(ids(await client.requestResult("session/attach", again))).toEqual(["portal observer"]);
  });

  it("A takeover and a repeated attach keep the metadata unless the request has new metadata [B-208]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    const harn = { surface: "portal", attachSecret: "s3cret" };
    const attachRequest = attach(sessionId, "portal", "observer", { _meta: { harn } });
    await client.requestResult("session/attach", attachRequest);
    const clientMetadata = { client: { metadata: { surface: "portal" } } };
    const taken = await client.requestResult("session/takeover", { sessionId, clientId: "portal" });
    expect(taken).toMatchObject(clientMetadata);
    const secret = { _meta: { harn: { attachSecret: "s3cret" } } };
    for (const more of [{}, secret]) {
      const again = attach(sessionId, "portal", "observer", more);
      expect(await client.requestResult("session/attach", again)).toMatchObject(clientMetadata);
    }
    const other = attach(sessionId, "portal", "observer", { _meta: { harn: { theme: "dark" } } });
    expect(await client.requestResult("session/attach", other)).toMatchObject({
      client: { metadata: { theme: "dark" } },
    });
  });

  it("Many clients can observe and one can control, also with concurrent attaches [B-199] [B-200] [ACP-120]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const clients = await Promise.all(Array.from({ length: 6 }, () => host(here.sessions)));
    const answers = await Promise.all(
      clients.map((client, at) => {
        const mode = at % 2 === 0 ? "controller" : "observer";
        return client.request("session/attach", attach(sessionId, `client-${at}`, mode));
      }),
    );
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(4);
    const list = await clients[0]?.requestResult("session/live_clients", { sessionId });
    const data = Array.isArray(list?.["data"]) ? list["data"] : [];
    const modes = data.map((one) => isObject(one) && one["mode"]);
    expect(modes.filter((mode) => mode === "controller")).toHaveLength(1);
    expect(modes.filter((mode) => mode === "observer")).toHaveLength(3);
  });

  it("Each host receives its own attach and takeover, and the reason of another client's detach [B-214]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    const two = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    await two.requestResult("session/attach", attach(sessionId, "two", "observer"));
    await two.requestResult("session/takeover", { sessionId, clientId: "two" });
    await two.requestResult("session/detach", {
      sessionId,
      clientId: "two",
      reason: "client_exit",
    });
    const changes = ({ messages }: AcpClient): unknown[] =>
      messages.flatMap(({ params }) => {
        const { sessionUpdate, _meta } = Object(Object(params).update);
        if (sessionUpdate !== "live_session_client") return [];
        const { action, clientId, reason = "" } = _meta.harn;
        return [`${action} ${clientId} ${reason}`.trim()];
      });
    await one.waitForMessage((message) =>
      changes({ ...one, messages: [message] })
        .join()
        .includes("detached"),
    );
    expect(changes(one)).toEqual([
      "attached one",
      "attached two",
      "takeover two",
      "detached two client_exit",
    ]);
    expect(changes(two).slice(0, 2)).toEqual(["attached two", "takeover two"]);
  });

  it("A second controller is refused and the session is unchanged [B-201]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const other = await host(here.sessions);
    const { seq } = (await here.sessions.find(sessionId)) ?? { seq: 0 };
    const answer = await other.request("session/attach", attach(sessionId, "other", "controller"));
    expect(answer["error"]).toMatchObject({ data: { code: "conflict" } });
    expect((await here.sessions.find(sessionId))?.seq).toBe(seq);
  });

  it.each([
    ["session/attach", { mode: "controller", takeover: true }],
    ["session/takeover", {}],
    ["_harn/session/takeover", {}],
  ])(
    "The method %s with %j demotes the previous controller [B-202] [B-203] [ACP-121] [ACP-137]",
    async (method, more) => {
      const here = world(says("Hi"));
      const sessionId = await opened(here);
      const one = await host(here.sessions);
      await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
      const other = await host(here.sessions);
      const answer = await other.requestResult(method, { sessionId, clientId: "other", ...more });
      expect(answer).toMatchObject({
        previous_controller_id: "one",
        active_controller_id: "other",
      });
      expect(ids(answer)).toEqual(["one observer", "other controller"]);
    },
  );

  it("An attach replaces the connection's generated client id [ACP-123]", async () => {
    const here = world(says("Hi"));
    const client = await host(here.sessions);
    const { sessionId } = await client.requestResult("session/new", SETUP);
    const answer = await client.requestResult(
      "session/attach",
      attach(readText(sessionId), "editor", "controller"),
    );
    expect(ids(answer)).toEqual(["editor controller"]);
  });
});

describe("Attached client", () => {
  it("A heartbeat keeps the role and updates the metadata [B-205] [ACP-123]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    await client.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    const answer = await client.requestResult("session/heartbeat", {
      sessionId,
      clientId: "tui",
      _meta: { harn: { focus: true } },
    });
    expect(answer).toMatchObject({
      client: { client_id: "tui", mode: "controller", metadata: { focus: true } },
      active_controller_id: "tui",
    });
    const other = { sessionId, clientId: "nobody" };
    expect(errorCode(await client.request("session/heartbeat", other))).toBe(-32002);
  });

  it("A detach of the controller releases control [B-204] [B-215]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    await client.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    const gone = { sessionId, clientId: "tui", reason: "client_exit" };
    expect(await client.requestResult("session/detach", gone)).toEqual({
      client: null,
      previous_controller_id: "tui",
      active_controller_id: null,
      clients: [],
    });
    expect(errorCode(await client.request("session/detach", gone))).toBe(-32002);
    const events = (await here.store.read(sessionId, 0, 100)).map(({ event }) => event);
    expect(events).toContainEqual({
      type: "client.detached",
      clientId: "tui",
      reason: "client_exit",
    });
  });

  it("The log has every attach, takeover, heartbeat and detach [B-213]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    await client.requestResult("session/attach", attach(sessionId, "tui", "observer"));
    await client.requestResult("session/takeover", { sessionId, clientId: "tui" });
    await client.requestResult("session/heartbeat", { sessionId, clientId: "tui" });
    await client.requestResult("session/detach", { sessionId, clientId: "tui" });
    const types = (await here.store.read(sessionId, 0, 100)).map(({ event }) => event.type);
    expect(types.filter((type) => type.startsWith("c"))).toEqual([
      "client.attached",
      "client.attached",
      "controller.changed",
      "client.heartbeat",
      "client.detached",
      "controller.changed",
    ]);
  });

  it("A client whose connection broke is detached and attaches again under its id without control [B-215] [B-216]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    await client.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    client.socket.destroy();
    await client.done;
    const again = await host(here.sessions);
    const answer = await again.requestResult(
      "session/attach",
      attach(sessionId, "tui", "observer"),
    );
    expect(answer).toMatchObject({ active_controller_id: null });
    expect(ids(answer)).toEqual(["tui observer"]);
  });

  it("A client id bound to a secret can be used only with the secret [W-10] [W-11]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const secret = { _meta: { harn: { attachSecret: "s3cret", surface: "tui" } } };
    const client = await host(here.sessions);
    await client.requestResult("session/attach", attach(sessionId, "tui", "controller", secret));
    const thief = await host(here.sessions);
    for (const more of [{}, { _meta: { harn: { attachSecret: "guess" } } }]) {
      const answer = await thief.request(
        "session/attach",
        attach(sessionId, "tui", "observer", more),
      );
      expect(answer["error"]).toMatchObject({ data: { code: "access_denied" } });
    }
    const own = await thief.requestResult(
      "session/attach",
      attach(sessionId, "tui", "controller", secret),
    );
    expect(own).toMatchObject({ client: { metadata: { surface: "tui" } } });
    expect(JSON.stringify(await here.store.read(sessionId, 0, 100))).not.toContain("s3cret");
  });
});

describe("Generated client id", () => {
  it("Another connection cannot use the id, not even in another session", async () => {
    const here = world(says("Hi"));
    const [one, other] = [await opened(here), await opened(here)];
    const client = await host(here.sessions);
    await client.requestResult("session/load", { sessionId: one, cwd: "/work", mcpServers: [] });
    const thief = await host(here.sessions);
    const { data } = await thief.requestResult("session/live_clients", { sessionId: one });
    const [row] = Array.isArray(data) ? data : [];
    const name = isObject(row) ? String(row["client_id"]) : "";
    const answer = await thief.request("session/attach", attach(other, name, "observer"));
    expect(errorCode(answer)).toBe(-32602);
    const own = await client.requestResult("session/attach", attach(other, name, "observer"));
    expect(own).toMatchObject({ client: { client_id: name } });
  });
});

describe("Detached client", () => {
  it("A detached host receives no updates, is refused while another client controls, and attaches again with its next prompt [B-204] [B-209] [ACP-123]", async () => {
    const here = world(says("Hi"), says("Again"));
    const sessionId = await opened(here);
    const tui = await host(here.sessions);
    const other = await host(here.sessions);
    await other.requestResult("session/attach", attach(sessionId, "other", "observer"));
    await tui.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    await tui.requestResult("session/detach", {
      sessionId,
      clientId: "tui",
      reason: "client_exit",
    });
    const before = tui.messages.length;
    const answer = await other.requestResult("session/takeover", { sessionId, clientId: "other" });
    expect(ids(answer)).toEqual(["other controller"]);
    await other.requestResult("session/prompt", prompt(sessionId, "Hello"));
    expect(tui.messages).toHaveLength(before);
    const refused = await tui.request("session/prompt", prompt(sessionId, "And?"));
    expect(refused["error"]).toMatchObject({ code: -32011, data: { code: "access_denied" } });
    const mode = await tui.request("session/set_mode", { sessionId, modeId: "ask" });
    expect(errorCode(mode)).toBe(-32011);
    const { data } = await tui.requestResult("session/live_clients", { sessionId });
    expect(data).toMatchObject([{ client_id: "other" }]);
    await other.requestResult("session/detach", { sessionId, clientId: "other" });
    expect(await tui.requestResult("session/prompt", prompt(sessionId, "And?"))).toMatchObject({
      stopReason: "end_turn",
    });
  });

  it("The pending prompt of a detached client gets a response and its turn continues", async () => {
    const here = world(hangs("Well"));
    const sessionId = await opened(here);
    const tui = await host(here.sessions);
    await tui.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    const promptResult = tui.request("session/prompt", prompt(sessionId, "Go"));
    await tui.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    await tui.requestResult("session/detach", { sessionId, clientId: "tui" });
    expect((await promptResult)["error"]).toMatchObject({ data: { code: "aborted" } });
    expect((await here.sessions.find(sessionId))?.state).toBe("running");
  });

  it("A client detached by another client receives no more updates", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const watcher = await host(here.sessions);
    await watcher.requestResult("session/attach", attach(sessionId, "watcher", "observer"));
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    await one.requestResult("session/detach", { sessionId, clientId: "watcher" });
    await one.requestResult("session/prompt", prompt(sessionId, "Hello"));
    await watcher.requestResult("session/live_clients", { sessionId });
    expect(JSON.stringify(watcher.messages)).not.toContain("Hello");
  });

  it("A controller bound to a secret is detached by another client only with the secret or after a takeover [B-204]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const secret = { _meta: { harn: { attachSecret: "s3cret" } } };
    const detach = { sessionId, clientId: "tui", reason: "sent away" };
    const other = await host(here.sessions);
    await other.requestResult("session/attach", attach(sessionId, "other", "observer"));
    const attachTui = async (): Promise<AcpClient> => {
      const tui = await host(here.sessions);
      await tui.requestResult("session/attach", attach(sessionId, "tui", "controller", secret));
      return tui;
    };
    const tui = await attachTui();
    for (const more of [{}, { _meta: { harn: { attachSecret: "guess" } } }]) {
      const { error } = await other.request("session/detach", { ...detach, ...more });
      expect(error).toMatchObject({ code: -32011, data: { code: "access_denied" } });
    }
    expect(ids(await tui.requestResult("session/heartbeat", detach))).toEqual([
      "other observer",
      "tui controller",
    ]);
    expect(ids(await other.requestResult("session/detach", { ...detach, ...secret }))).toEqual([
      "other observer",
    ]);
    await attachTui();
    await other.requestResult("session/takeover", { sessionId, clientId: "other" });
    expect(ids(await other.requestResult("session/detach", detach))).toEqual(["other controller"]);
    const again = await host(here.sessions);
    const own = { ...detach, clientId: "again" };
    const takeOver = { takeover: true, ...secret };
    await again.requestResult("session/attach", attach(sessionId, "again", "controller", takeOver));
    expect(ids(await again.requestResult("session/detach", own))).toEqual(["other observer"]);
  });

  it("The end of an old connection does not detach the client that attached again under the same id [ACP-123]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const secret = { _meta: { harn: { attachSecret: "s3cret" } } };
    const lost = await host(here.sessions);
    await lost.requestResult("session/attach", attach(sessionId, "tui", "controller", secret));
    const back = await host(here.sessions);
    await back.requestResult("session/attach", attach(sessionId, "tui", "controller", secret));
    lost.socket.destroy();
    await lost.done;
    const { data } = await back.requestResult("session/live_clients", { sessionId });
    expect(data).toMatchObject([{ client_id: "tui", mode: "controller" }]);
    await back.requestResult("session/prompt", prompt(sessionId, "Hello"));
    expect(JSON.stringify(lost.messages)).not.toContain("Hi");
  });
});

describe("Observer", () => {
  it("An observer can neither prompt nor decide before it takes over [B-209] [B-210] [ACP-122]", async () => {
    const here = world(saving("t1"), says("Done"), saving("t2"), says("Done"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const observer = await host(here.sessions);
    await observer.requestResult("session/attach", attach(sessionId, "observer", "observer"));
    const refused = await observer.request("session/prompt", prompt(sessionId, "Hi"));
    expect(refused["error"]).toMatchObject({ data: { code: "access_denied" } });
    const outcome = { outcome: "selected", optionId: "allow" };
    const saves = async (client: AcpClient): Promise<void> => {
      const promptResult = client.request("session/prompt", prompt(sessionId, "Save"));
      const question = await client.waitForMessage(
        ({ method }) => method === "session/request_permission",
      );
      client.send({ jsonrpc: "2.0", id: question["id"], result: { outcome } });
      expect((await promptResult)["result"]).toMatchObject({ stopReason: "end_turn" });
    };
    await saves(one);
    expect(questions(observer)).toEqual([]);
    expect(here.ran).toEqual([{ id: "t1" }]);
    await observer.requestResult("session/takeover", { sessionId, clientId: "observer" });
    await saves(observer);
    expect(questions(one)).toHaveLength(1);
    expect(here.ran).toEqual([{ id: "t1" }, { id: "t2" }]);
    const late = await one.request("session/prompt", prompt(sessionId, "Hi"));
    expect(late["error"]).toMatchObject({ data: { code: "access_denied" } });
  });

  it("An observer cannot end another client's turn by cancelling or closing", async () => {
    const here = world(hangs("Well"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const observer = await host(here.sessions);
    await observer.requestResult("session/attach", attach(sessionId, "observer", "observer"));
    const promptResult = one.request("session/prompt", prompt(sessionId, "Go"));
    await observer.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    observer.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    await observer.requestResult("session/close", { sessionId });
    expect((await here.sessions.find(sessionId))?.state).toBe("running");
    const taking = await host(here.sessions);
    await taking.requestResult("session/takeover", { sessionId, clientId: "taking" });
    // The client is an observer now and can still cancel its own turn.
    one.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    expect((await promptResult)["result"]).toMatchObject({ stopReason: "cancelled" });
  });

  it("A session/cancel request is answered, and refused for observers and clients outside the session", async () => {
    const here = world(hangs("Well"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const observer = await host(here.sessions);
    const outside = await observer.request("session/cancel", { sessionId });
    expect(outside["error"]).toMatchObject({ code: -32011, data: { code: "access_denied" } });
    await observer.requestResult("session/attach", attach(sessionId, "observer", "observer"));
    const promptResult = one.request("session/prompt", prompt(sessionId, "Go"));
    await observer.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    const refused = await observer.request("session/cancel", { sessionId });
    expect(refused["error"]).toMatchObject({ code: -32011, data: { code: "access_denied" } });
    expect(await one.requestResult("session/cancel", { sessionId })).toEqual({});
    expect((await promptResult)["result"]).toMatchObject({ stopReason: "cancelled" });
    expect(errorCode(await one.request("session/cancel", { sessionId: "ses_none" }))).toBe(-32002);
  });

  it("An observer receives all updates, and its disconnect does not affect the turn [ACP-124] [ACP-125]", async () => {
    const here = world(hangs("Well"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const observer = await host(here.sessions);
    await observer.requestResult("session/attach", attach(sessionId, "observer", "observer"));
    void one.request("session/prompt", prompt(sessionId, "Go"));
    await observer.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    observer.socket.destroy();
    await observer.done;
    expect((await here.sessions.find(sessionId))?.state).toBe("running");
    await one.requestResult("session/close", { sessionId });
  });
});

function questions({ messages }: AcpClient) {
  return messages.filter(({ method }) => method === "session/request_permission");
}

function allow(client: AcpClient, { id }: Message): void {
  const outcome = { outcome: "selected", optionId: "allow" };
  client.send({ jsonrpc: "2.0", id, result: { outcome } });
}

function isPermission({ method }: Message): boolean {
  return method === "session/request_permission";
}

const saving = (id: string) => wants({ id, name: "save", input: { id } });
const REFUSED = { code: -32011, data: { code: "access_denied" } };

async function stock(sessions: ReturnType<typeof world>["sessions"]): Promise<AcpClient> {
  const client = await connectAcpClient(sessions);
  await client.request("initialize");
  return client;
}

describe("Permission request", () => {
  it("An observer's decision is refused and the controller's decision counts [B-210]", async () => {
    const here = world(saving("t1"), says("Done"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const observer = await host(here.sessions);
    await observer.requestResult("session/attach", attach(sessionId, "observer", "observer"));
    const answer = one.request("session/prompt", prompt(sessionId, "Save"));
    const question = await one.waitForMessage(isPermission);
    const log = (await here.store.read(sessionId, 0, 100)).map(({ event }) => event);
    const approval = log.find(({ type }) => type === "approval.requested");
    const approvalId = approval?.type === "approval.requested" ? approval.approvalId : "";
    for (const decision of ["allow", "allow-always", "deny"] as const) {
      const command = { type: "decide-approval", approvalId, decision } as const;
      const from = { principal: USER, clientId: "observer" };
      const reply = await here.sessions.command(sessionId, command, from);
      expect(reply).toMatchObject({ status: "refused", failure: { code: "access_denied" } });
    }
    // The id of the controller's request, sent from the observer's connection.
    allow(observer, question);
    await observer.requestResult("session/live_clients", { sessionId });
    expect(here.ran).toEqual([]);
    allow(one, question);
    expect((await answer)["result"]).toMatchObject({ stopReason: "end_turn" });
    expect(here.ran).toEqual([{ id: "t1" }]);
  });

  it("A takeover routes the request to the new controller and the old controller's decision does not count [B-210] [B-212]", async () => {
    const here = world(saving("t1"), says("Done"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const other = await host(here.sessions);
    await other.requestResult("session/attach", attach(sessionId, "other", "observer"));
    const answer = one.request("session/prompt", prompt(sessionId, "Save"));
    const question = await one.waitForMessage(isPermission);
    const harn = { surface: "tui" };
    const taking = { sessionId, clientId: "other", _meta: { harn } };
    await other.requestResult("session/takeover", taking);
    allow(one, question);
    await one.requestResult("session/live_clients", { sessionId });
    expect(here.ran).toEqual([]);
    allow(other, await other.waitForMessage(isPermission));
    expect((await answer)["result"]).toMatchObject({ stopReason: "end_turn" });
    const log = await here.store.read(sessionId, 0, 200);
    const routed = log.flatMap(({ event }) =>
      event.type === "approval.routed" || event.type === "approval.requested" ? [event] : [],
    );
    const approvalId = routed[0]?.approvalId;
    expect(routed).toMatchObject([
      { type: "approval.requested", routedTo: { clientId: "one" } },
      { type: "approval.routed", approvalId, routedTo: { clientId: "other", metadata: harn } },
    ]);
    const decided = log.find(({ event }) => event.type === "approval.resolved");
    expect(decided?.actor).toMatchObject({ clientId: "other" });
    const routes = one.listUpdates().flatMap((update) => {
      if (update["sessionUpdate"] !== "live_session_permission_route") return [];
      return [Object(update["_meta"]).harn];
    });
    const { approvalRequest } = Object(question["params"]);
    const route = { requestId: approvalId, toolCallId: approvalRequest.id };
    expect(routes).toMatchObject([
      { ...route, client: { client_id: "one", mode: "controller" }, metadata: {} },
      { ...route, client: { client_id: "other", mode: "controller" }, metadata: harn },
    ]);
  });

  it("Arguments edited by a host are sent with the tool call, live and on load [B-115]", async () => {
    const here = world(saving("t1"), says("Done"));
    const one = await host(here.sessions);
    const { sessionId } = await one.requestResult("session/new", SETUP);
    const answer = one.request("session/prompt", prompt(readText(sessionId), "Save"));
    const { id } = await one.waitForMessage(isPermission);
    one.send({ jsonrpc: "2.0", id, result: { granted: true, args: { id: "edited" } } });
    await answer;
    expect(here.ran).toEqual([{ id: "edited" }]);
    const other = await stock(here.sessions);
    await other.requestResult("session/load", { sessionId, ...SETUP });
    for (const client of [one, other]) {
      const inputs = client.listUpdates().flatMap(({ sessionUpdate, rawInput }) => {
        return rawInput === undefined ? [] : [[sessionUpdate, rawInput]];
      });
      expect(inputs.at(0)?.[1]).toEqual({ id: "t1" });
      expect(inputs.at(-1)).toEqual(["tool_call_update", { id: "edited" }]);
    }
  });

  it("The decision of a detached client is refused while another client controls [B-210]", async () => {
    const here = world(saving("t1"), says("Done"));
    const sessionId = await opened(here);
    const come = (clientId: string, attachmentId: string, mode: "controller" | "observer") =>
      here.sessions.command(
        sessionId,
        { type: "attach", clientId, name: clientId, mode, attachmentId },
        { principal: USER, clientId },
      );
    await come("one", "stay-1", "controller");
    await come("two", "stay-2", "observer");
    const content = [{ type: "text", text: "Save" }] as const;
    const one = { principal: USER, clientId: "one", attachmentId: "stay-1" };
    const two = { principal: USER, clientId: "two", attachmentId: "stay-2" };
    await here.sessions.command(sessionId, { type: "prompt", content }, one);
    const approvalId = await eventually(async () => {
      const log = (await here.store.read(sessionId, 0, 100)).map(({ event }) => event);
      const approval = log.find(({ type }) => type === "approval.requested");
      if (approval?.type !== "approval.requested") throw new Error("nothing is asked yet");
      return approval.approvalId;
    });
    const leave = { type: "detach", clientId: "two", reason: "client_exit" } as const;
    await here.sessions.command(sessionId, leave, two);
    const refused = { status: "refused", failure: { code: "access_denied" } };
    const yes = { type: "decide-approval", approvalId, decision: "allow" } as const;
    expect(await here.sessions.command(sessionId, yes, two)).toMatchObject(refused);
    const again = { type: "prompt", content } as const;
    expect(await here.sessions.command(sessionId, again, two)).toMatchObject(refused);
    // A portal page does not attach: the permissions of its principal decide.
    const page = { principal: USER };
    expect(await here.sessions.command(sessionId, yes, page)).toMatchObject({ status: "accepted" });
  });
});

describe("Host in a session with a controller", () => {
  it("A host that never attached is refused and stays unattached [B-209]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const other = await host(here.sessions);
    const refused = await other.request("session/prompt", prompt(sessionId, "Hi"));
    expect(refused["error"]).toMatchObject(REFUSED);
    const { data } = await other.requestResult("session/live_clients", { sessionId });
    expect(data).toMatchObject([{ client_id: "one" }]);
  });

  it("A host that loaded the session observes, and receives open requests when the controller detaches [B-209] [B-210]", async () => {
    const here = world(saving("t1"), says("Done"), says("Hi"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const other = await host(here.sessions);
    await other.requestResult("session/load", { sessionId, ...SETUP });
    const refused = await other.request("session/prompt", prompt(sessionId, "Hi"));
    expect(refused["error"]).toMatchObject(REFUSED);
    void one.request("session/prompt", prompt(sessionId, "Save"));
    await one.waitForMessage(isPermission);
    await other.requestResult("session/live_clients", { sessionId });
    expect(questions(other)).toEqual([]);
    await one.requestResult("session/detach", { sessionId, clientId: "one" });
    allow(other, await other.waitForMessage(isPermission));
    await eventually(() => expect(here.ran).toEqual([{ id: "t1" }]));
    expect(await other.requestResult("session/prompt", prompt(sessionId, "Hi"))).toMatchObject({
      stopReason: "end_turn",
    });
  });

  it("An observer's extra permissions apply only without a controller [B-209] [B-210]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const guest = await host(here.sessions);
    const may = { promptInjection: true, permissionRouting: true };
    await guest.requestResult("session/attach", attach(sessionId, "guest", "observer", may));
    const row = async (): Promise<unknown> =>
      Object(await guest.requestResult("session/live_clients", { sessionId })).data[0];
    const rights = (is: boolean) => ({ prompt_injection: is, permission_routing: is });
    expect(await row()).toMatchObject({ client_id: "guest", ...rights(true) });
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    expect(await row()).toMatchObject({ client_id: "guest", ...rights(false) });
    const refused = await guest.request("session/prompt", prompt(sessionId, "Hi"));
    expect(refused["error"]).toMatchObject(REFUSED);
  });
});

describe("Stock client", () => {
  it("A stock client's prompt queues behind the controller's turn, and the client decides only about its own turn [B-209] [B-210]", async () => {
    const here = world(saving("t1"), says("Done"), saving("t2"), says("Done"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const editor = await stock(here.sessions);
    await editor.requestResult("session/load", { sessionId, ...SETUP });
    const first = one.request("session/prompt", prompt(sessionId, "Save"));
    const question = await one.waitForMessage(isPermission);
    const second = editor.request("session/prompt", prompt(sessionId, "Save as well"));
    await editor.requestResult("session/list", {});
    expect(questions(editor)).toEqual([]);
    allow(one, question);
    expect((await first)["result"]).toMatchObject({ stopReason: "end_turn" });
    allow(editor, await editor.waitForMessage(isPermission));
    expect((await second)["result"]).toMatchObject({ stopReason: "end_turn" });
    expect(here.ran).toEqual([{ id: "t1" }, { id: "t2" }]);
    expect(questions(editor)).toHaveLength(1);
  });

  it("A stock client's decision about the controller's turn is refused [B-210]", async () => {
    const here = world(saving("t1"), says("Done"), saving("t2"), says("Done"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const editor = { principal: USER, clientId: "editor" };
    const own = { mayPrompt: true, mayApprove: true, isStock: true };
    const coming = { type: "attach", clientId: "editor", name: "e", mode: "observer" } as const;
    await here.sessions.command(sessionId, { ...coming, ...own }, editor);
    const answer = one.request("session/prompt", prompt(sessionId, "Save"));
    const question = await one.waitForMessage(isPermission);
    const log = (await here.store.read(sessionId, 0, 100)).map(({ event }) => event);
    const approval = log.find(({ type }) => type === "approval.requested");
    const approvalId = approval?.type === "approval.requested" ? approval.approvalId : "";
    const yes = { type: "decide-approval", approvalId, decision: "allow" } as const;
    const reply = await here.sessions.command(sessionId, yes, editor);
    expect(reply).toMatchObject({ status: "refused", failure: { code: "access_denied" } });
    allow(one, question);
    await answer;
  });

  it("A stock client attaches as the controller if there is none [ACP-123]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const editor = await stock(here.sessions);
    await editor.requestResult("session/prompt", prompt(sessionId, "Hello"));
    const { data } = await (
      await host(here.sessions)
    ).requestResult("session/live_clients", { sessionId });
    expect(data).toMatchObject([{ mode: "controller", prompt_injection: true }]);
  });

  it("A client that calls a bridge method is no longer a stock client [B-209]", async () => {
    const here = world(says("Hi"), says("Hi"));
    const sessionId = await opened(here);
    const one = await host(here.sessions);
    await one.requestResult("session/attach", attach(sessionId, "one", "controller"));
    const editor = await stock(here.sessions);
    await editor.requestResult("session/load", { sessionId, ...SETUP });
    expect(await editor.requestResult("session/prompt", prompt(sessionId, "Hi"))).toMatchObject({
      stopReason: "end_turn",
    });
    await editor.requestResult("session/live_clients", { sessionId });
    const refused = await editor.request("session/prompt", prompt(sessionId, "Hi"));
    expect(refused["error"]).toMatchObject(REFUSED);
  });
});

describe("Attach rules", () => {
  it("The session itself enforces the rules, whichever surface sends the command [B-196]", async () => {
    const { sessions } = world(says("Hi"));
    const { sessionId } = await sessions.open({ principal: USER });
    const from = (clientId: string) => ({ principal: USER, clientId });
    const come = (clientId: string, takeOver = false) =>
      sessions.command(
        sessionId,
        { type: "attach", clientId, name: clientId, mode: "controller", takeOver },
        from(clientId),
      );
    expect(await come("one")).toMatchObject({ status: "accepted" });
    expect(await come("two")).toMatchObject({ status: "refused", failure: { code: "conflict" } });
    const content = [{ type: "text", text: "Hello" }] as const;
    await sessions.command(
      sessionId,
      { type: "attach", clientId: "two", name: "two", mode: "observer" },
      from("two"),
    );
    expect(
      await sessions.command(sessionId, { type: "prompt", content }, from("two")),
    ).toMatchObject({ status: "refused" });
    expect(await come("two", true)).toMatchObject({ clientStatus: { controller: "two" } });
  });

  it("All surfaces share the client list of a session [W-12]", async () => {
    const { sessions } = world(says("Hi"));
    const server = await startAcpServer(sessions);
    const { sessionId } = await sessions.open({ principal: { ...USER, id: "local" } });
    const editor = await connectAcpClient(sessions, { principal: { ...USER, id: "local" } });
    const page = await server.connect();
    for (const client of [editor, page]) await client.request("initialize");
    await editor.requestResult("session/attach", attach(sessionId, "editor", "controller"));
    const refused = await page.request("session/attach", attach(sessionId, "page", "controller"));
    expect(refused["error"]).toMatchObject({ data: { code: "conflict" } });
    const taken = { sessionId, clientId: "page" };
    expect(await page.requestResult("session/takeover", taken)).toMatchObject({
      previous_controller_id: "editor",
      active_controller_id: "page",
    });
    const seen = await editor.requestResult("session/live_clients", { sessionId });
    expect(await page.requestResult("session/live_clients", { sessionId })).toEqual(seen);
    expect(ids({ clients: seen["data"] ?? null })).toEqual(["editor observer", "page controller"]);
  });
});

describe("Routed permission request", () => {
  it("The log has the request id, the controller and its metadata, without secrets [B-212]", async () => {
    const here = world(wants({ id: "c1", name: "save" }), says("Well."));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    const harn = { surface: "tui", attachSecret: "not for the log" };
    const attachRequest = attach(sessionId, "tui", "controller", { _meta: { harn } });
    await client.requestResult("session/attach", attachRequest);
    const answer = client.request("session/prompt", prompt(sessionId, "Go"));
    const { id, params } = await client.waitForMessage(
      ({ method }) => method === "session/request_permission",
    );
    const log = (await here.store.read(sessionId, 0, 100)).map(({ event }) => event);
    expect(log.find(({ type }) => type === "approval.requested")).toMatchObject({
      approvalId: expect.stringMatching(/^appr_/),
      subjectId:
        isObject(params) && isObject(params["toolCall"]) && params["toolCall"]["toolCallId"],
      routedTo: { clientId: "tui", metadata: { surface: "tui" } },
    });
    expect(JSON.stringify(log)).not.toContain("not for the log");
    client.send({ jsonrpc: "2.0", id, result: { outcome: { outcome: "selected" } } });
    await answer;
  });
});

describe("Controller's prompt", () => {
  it("The log has the client id of a prompt [B-211]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await host(here.sessions);
    await client.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    await client.requestResult("session/prompt", prompt(sessionId, "Hello"));
    const accepted = (await here.store.read(sessionId, 0, 100)).find(
      ({ event }) => event.type === "prompt.accepted",
    );
    expect(accepted?.actor).toMatchObject({ clientId: "tui", principal: USER.id });
  });

  it("A queued prompt keeps its client if another client's command starts its turn [B-211]", async () => {
    const here = world(hangs("Well"), says("Hi"));
    const sessionId = await opened(here);
    const tui = await host(here.sessions);
    await tui.requestResult("session/attach", attach(sessionId, "tui", "controller"));
    const watcher = await host(here.sessions);
    await watcher.requestResult("session/attach", attach(sessionId, "watcher", "observer"));
    const editor = await stock(here.sessions);
    await editor.requestResult("session/load", { sessionId, ...SETUP });
    void tui.request("session/prompt", prompt(sessionId, "First"));
    await editor.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes("Well"));
    const second = editor.request("session/prompt", prompt(sessionId, "Second"));
    await tui.waitForMessage(({ params }) => JSON.stringify(params ?? "").includes('"queued"'));
    await tui.requestResult("session/cancel", { sessionId });
    expect((await second)["result"]).toMatchObject({ stopReason: "end_turn" });
    const log = await here.store.read(sessionId, 0, 200);
    const clientsOf = (type: string): unknown[] =>
      log.flatMap(({ event, actor }) => (event.type === type ? [actor?.clientId] : []));
    const name = clientsOf("prompt.accepted")[1];
    expect(name).toMatch(/^client_/);
    expect(clientsOf("turn.started")).toEqual(["tui", name]);
    expect(clientsOf("message.sent")).toEqual(["tui", name]);
    const messages = watcher.listUpdates().flatMap((update) => {
      if (update["sessionUpdate"] !== "user_message") return [];
      return [Object(update["_meta"]).harn];
    });
    expect(messages).toEqual([{ clientId: "tui" }, { clientId: name }]);
  });
});

describe("Client that calls a bridge method", () => {
  it("The client is a bridge host from then on, whatever it declared [B-214] [W-24]", async () => {
    const here = world(says("Hi"));
    const sessionId = await opened(here);
    const client = await connectAcpClient(here.sessions);
    await client.request("initialize");
    await client.requestResult("_harn/session/attach", attach(sessionId, "tui", "controller"));
    await client.requestResult("session/heartbeat", { sessionId, clientId: "tui" });
    const closingMessage = await client.waitForMessage(({ params }) =>
      JSON.stringify(params ?? "").includes('"action":"heartbeat"'),
    );
    expect(closingMessage).toMatchObject({
      method: "session/update",
      params: { update: { sessionUpdate: "live_session_client" } },
    });
  });
});

describe("Updates setting", () => {
  it.each([
    ["bridge", {}, true],
    ["standard", { _meta: { harn: {} } }, false],
  ] as const)(
    "The setting %j overrides the declared capabilities %j [ACP-128]",
    async (updates, clientCapabilities, isTold) => {
      const here = world(says("Hi"));
      const client = await connectAcpClient(here.sessions, { updates });
      await client.request("initialize", { clientCapabilities });
      const { sessionId } = await client.requestResult("session/new", {
        cwd: "/work",
        mcpServers: [],
      });
      await client.requestResult(
        "session/attach",
        attach(readText(sessionId), "tui", "controller"),
      );
      await client.requestResult("session/prompt", prompt(readText(sessionId), "Go"));
      const known = client.listUpdates().map((update) => readText(update["sessionUpdate"]));
      expect(known).toContain("agent_message_chunk");
      expect(known.includes("live_session_client")).toBe(isTold);
    },
  );
});
