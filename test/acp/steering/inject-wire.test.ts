import { describe, expect, it } from "vitest";
import { readText, type AcpPeer, type Message } from "../../support/acp/acp-client.ts";
import {
  connectLines,
  createSteeringWorld,
  listUserMessages,
  looks,
  openSession,
  readAgentText,
  readReason,
  readUpdate,
  startToolTurn,
  TRANSPORTS,
} from "../../support/acp/steering-world.ts";
import { eventually } from "../../support/eventually.ts";
import { says } from "../../support/session/scripted-provider.ts";

const UNKNOWN_ID = "msg_inj_0000000000000";

async function inject(client: AcpPeer, sessionId: string, content: unknown, mode = "steer") {
  const result = await client.requestResult("session/inject", { sessionId, mode, content });
  return { ...result, messageId: readText(result["messageId"]) };
}

function revoke(client: AcpPeer, sessionId: string, messageId: string): Promise<Message> {
  return client.request("session/revoke_inject", { sessionId, messageId });
}

function replace(client: AcpPeer, sessionId: string, messageId: string, content: unknown) {
  return client.request("session/replace_inject", { sessionId, messageId, content });
}

async function load(client: AcpPeer, sessionId: string): Promise<void> {
  await client.requestResult("session/load", { sessionId, cwd: "/work", mcpServers: [] });
}

describe.each(TRANSPORTS)("session/inject over %s", (_, connect) => {
  it("A steered message is accepted at once and is delivered once to every host, with the same id, after the running tool [B-165] [B-167] [B-168] [B-169] [ACP-113] [ACP-114]", async () => {
    const { connectHost, gate, provider } = createSteeringWorld(connect, [looks, says("Done.")]);
    const host = await connectHost();
    const observer = await connectHost();
    const sessionId = await openSession(host);
    await observer.requestResult("session/attach", {
      sessionId,
      clientId: "watcher",
      mode: "observer",
    });
    const { turn } = await startToolTurn(host, sessionId);
    const injected = await inject(host, sessionId, "Use metric units");
    expect(injected).toEqual({
      status: "accepted",
      messageId: expect.stringMatching(/^msg_inj_/),
      deliveredAs: "steer",
    });
    expect(listUserMessages(host)).toEqual([]);
    gate.open();
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    const delivered = `user_message ${injected.messageId} Use metric units`;
    expect(listUserMessages(host)).toEqual([delivered]);
    await eventually(() => expect(readAgentText(observer)).toContain("Done."));
    expect(listUserMessages(observer).filter((text) => text.includes("metric"))).toEqual([
      delivered,
    ]);
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Use metric units"] });
  });

  it("A message of content blocks waits for the end of the turn and is then answered in a separate turn [B-166] [B-170] [ACP-114] [W-15]", async () => {
    const { connectHost, gate, provider } = createSteeringWorld(connect, [
      looks,
      says("First."),
      says("Second."),
    ]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const blocks = [
      { type: "text", text: "And then" },
      { type: "resource_link", uri: "file:///work/a.md", name: "a.md" },
    ];
    const injected = await inject(host, sessionId, blocks, "queue");
    expect(injected).toMatchObject({ status: "accepted", deliveredAs: "queue" });
    gate.open();
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    await eventually(() => expect(readAgentText(host)).toContain("Second."));
    expect(readAgentText(host)).toMatch(/First\..*Second\.$/);
    expect(provider.invocations).toHaveLength(3);
    expect(JSON.stringify(provider.invocations[1]?.input)).not.toContain("And then");
    expect(JSON.stringify(provider.invocations[2]?.input)).toContain("And then");
    const messages = listUserMessages(host);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toContain(`user_message ${injected.messageId} And then|`);
  });

  it("The response to a message without a running turn precedes its delivery [B-167] [B-168] [ACP-119]", async () => {
    const { connectHost } = createSteeringWorld(connect, [says("Hello.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const injected = await inject(host, sessionId, "Hello?", "queue");
    expect(injected).toMatchObject({ deliveredAs: "turn" });
    await eventually(() => expect(readAgentText(host)).toBe("Hello."));
    expect(listUserMessages(host)).toEqual([`user_message ${injected.messageId} Hello?`]);
    const order = host.messages.flatMap((message) => {
      if (JSON.stringify(message["result"] ?? "").includes(injected.messageId)) return ["response"];
      return readUpdate(message)["sessionUpdate"] === "user_message" ? ["delivery"] : [];
    });
    expect(order).toEqual(["response", "delivery"]);
  });

  it("A pending message is replaced in place and revoked, and a late change is refused with its reason [B-172] [B-173] [B-174] [B-175] [B-176] [B-177] [ACP-115]", async () => {
    const { connectHost, gate, provider } = createSteeringWorld(connect, [looks, says("Done.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const first = await inject(host, sessionId, "Old words");
    const second = await inject(host, sessionId, "Never sent");
    const third = await inject(host, sessionId, "Third");
    const replaced = await replace(host, sessionId, first.messageId, "New words");
    expect(replaced["result"]).toEqual({ messageId: first.messageId, status: "replaced" });
    const revoked = { messageId: second.messageId, status: "revoked" };
    expect((await revoke(host, sessionId, second.messageId))["result"]).toEqual(revoked);
    const again = { messageId: second.messageId, status: "already_revoked" };
    expect((await revoke(host, sessionId, second.messageId))["result"]).toEqual(again);
    const late = await replace(host, sessionId, second.messageId, "Too late");
    expect(readReason(late)).toBe("already_revoked");
    for (const unknown of [
      await revoke(host, sessionId, UNKNOWN_ID),
      await replace(host, sessionId, UNKNOWN_ID, "Nothing"),
    ])
      expect(readReason(unknown)).toBe("unknown_message_id");
    gate.open();
    await turn;
    for (const delivered of [
      await revoke(host, sessionId, first.messageId),
      await replace(host, sessionId, third.messageId, "Changed"),
    ])
      expect(readReason(delivered)).toBe("already_delivered");
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["New words", "Third"] });
    expect(listUserMessages(host)).toEqual([
      `user_message ${first.messageId} New words`,
      `user_message ${third.messageId} Third`,
    ]);
  });

  it("Revoked and replaced words are not part of a replay [B-179]", async () => {
    const { connectHost, connectStock, gate } = createSteeringWorld(connect, [
      looks,
      says("Done."),
    ]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const first = await inject(host, sessionId, "Old words");
    const second = await inject(host, sessionId, "Revoked words");
    await replace(host, sessionId, first.messageId, "New words");
    await revoke(host, sessionId, second.messageId);
    gate.open();
    await turn;
    for (const reader of [await connectHost(), await connectStock()]) {
      await load(reader, sessionId);
      const replay = JSON.stringify(reader.messages);
      expect(replay).toContain("New words");
      expect(replay).toContain(first.messageId);
      expect(replay).not.toContain("Old words");
      expect(replay).not.toContain("Revoked words");
    }
  });

  it("Only the sender and the controller change a message, and an observer cannot send one [B-178] [B-209]", async () => {
    const { connectHost, gate } = createSteeringWorld(connect, [looks, says("Done.")]);
    const first = await connectHost();
    const sessionId = await openSession(first);
    const { turn } = await startToolTurn(first, sessionId);
    const own = await inject(first, sessionId, "From the first");
    const other = await connectHost();
    // The second host is not attached.
    for (const refused of [
      await revoke(other, sessionId, own.messageId),
      await replace(other, sessionId, own.messageId, "Mine"),
    ])
      expect(readReason(refused)).toBe("not_owner_or_not_authorized");
    const clientId = "other";
    await other.requestResult("session/attach", { sessionId, clientId, mode: "observer" });
    for (const refused of [
      await revoke(other, sessionId, own.messageId),
      await replace(other, sessionId, own.messageId, "Mine"),
    ])
      expect(readReason(refused)).toBe("not_owner_or_not_authorized");
    const observed = await other.request("session/inject", {
      sessionId,
      mode: "steer",
      content: "From the observer",
    });
    expect(observed).toMatchObject({ error: { data: { code: "access_denied" } } });
    await other.requestResult("session/takeover", { sessionId, clientId });
    const taken = await inject(other, sessionId, "From the other");
    // The first client has lost control, but may still change its own messages.
    expect(readReason(await revoke(first, sessionId, taken.messageId))).toBe(
      "not_owner_or_not_authorized",
    );
    const changed = await replace(first, sessionId, own.messageId, "Changed by its sender");
    expect(changed["result"]).toMatchObject({ status: "replaced" });
    const controlled = await revoke(other, sessionId, own.messageId);
    expect(controlled["result"]).toMatchObject({ status: "revoked" });
    gate.open();
    await turn;
    expect(listUserMessages(first)).toEqual([`user_message ${taken.messageId} From the other`]);
  });

  it("The pending messages and reminders are listed in the order of their acceptance until they are delivered [ACP-117] [B-189] [B-190] [B-192]", async () => {
    const { connectHost, gate } = createSteeringWorld(connect, [looks, says("Done.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const steered = await inject(host, sessionId, "Steered");
    const reminder = await host.requestResult("session/remind", { sessionId, body: "Look again" });
    const queued = await inject(host, sessionId, "Queued", "queue");
    expect(await host.requestResult("session/pending_injections", { sessionId })).toMatchObject({
      pendingCount: 3,
      injections: [
        { kind: "user", messageId: steered.messageId, mode: "steer", position: 0 },
        { kind: "reminder", reminderId: reminder["reminderId"], body: "Look again", position: 1 },
        { kind: "user", messageId: queued.messageId, mode: "queue", position: 2 },
      ],
    });
    gate.open();
    await turn;
    await eventually(() => expect(listUserMessages(host)).toHaveLength(2));
    expect(await host.requestResult("session/pending_injections", { sessionId })).toEqual({
      pendingCount: 0,
      injections: [],
    });
  });

  it("A request repeated with the same command id is accepted once and gets the first response", async () => {
    const { connectHost, gate, provider } = createSteeringWorld(connect, [looks, says("Done.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const { turn } = await startToolTurn(host, sessionId);
    const params = {
      sessionId,
      mode: "steer",
      content: "Once",
      _meta: { harn: { commandId: "inject-1" } },
    };
    const first = await host.requestResult("session/inject", params);
    expect(await host.requestResult("session/inject", params)).toEqual(first);
    const other = await host.request("session/inject", { ...params, content: "Twice" });
    expect(readReason(other)).toBe("other_command");
    gate.open();
    await turn;
    expect(await host.requestResult("session/inject", params)).toEqual(first);
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Once"] });
    expect(listUserMessages(host)).toHaveLength(1);
    const meta = { harn: { commandId: "" } };
    expect(await host.request("session/inject", { ...params, _meta: meta })).toMatchObject({
      error: { code: -32602 },
    });
  });

  it.each([
    ["a missing mode", { mode: undefined }],
    ["an unknown mode", { mode: "later" }],
    ["a missing content", { content: undefined }],
    ["a content that is not a list", { content: { type: "text", text: "Hi" } }],
    ["an empty content", { content: [] }],
  ])("A message with %s is rejected [B-165] [B-166]", async (_name, wrong) => {
    const { connectHost } = createSteeringWorld(connect, [says("Hi.")]);
    const host = await connectHost();
    const sessionId = await openSession(host);
    const params = { sessionId, mode: "steer", content: "Hi", ...wrong };
    expect(await host.request("session/inject", params)).toMatchObject({
      error: { code: -32602 },
    });
  });
});

describe.each(TRANSPORTS)("_session/steering over %s", (_, connect) => {
  it("An editor steers the running turn and receives its message in chunks with the same id [ACP-30] [ACP-118] [B-168]", async () => {
    const { connectStock, gate, provider } = createSteeringWorld(connect, [looks, says("Done.")]);
    const editor = await connectStock();
    const initialized = await editor.requestResult("initialize", { protocolVersion: 1 });
    expect(initialized["_meta"]).toEqual({ steering: { supported: true } });
    const sessionId = await openSession(editor);
    const { turn } = await startToolTurn(editor, sessionId);
    const prompt = [{ type: "text", text: "Use metric units" }];
    const result = await editor.requestResult("_session/steering", { sessionId, prompt });
    expect(result).toEqual({
      outcome: "injected",
      messageId: expect.stringMatching(/^msg_inj_/),
    });
    gate.open();
    await turn;
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Use metric units"] });
    expect(listUserMessages(editor)).toEqual([
      `user_message_chunk ${readText(result["messageId"])} Use metric units`,
    ]);
  });

  it("The outcome says that a message starts a turn, needs a prompt, waits in the queue or is refused [ACP-118] [ACP-119]", async () => {
    const { connectStock, connectHost, gate } = createSteeringWorld(
      connect,
      [looks, says("One."), says("Two."), says("Three.")],
      { caps: { steps: 1 } },
    );
    const editor = await connectStock();
    const sessionId = await openSession(editor);
    const prompt = [{ type: "text", text: "Hello" }];
    const asPrompt = { sessionId, prompt, _meta: { steering: { idleBehavior: "promptRequired" } } };
    expect(await editor.requestResult("_session/steering", asPrompt)).toEqual({
      outcome: "promptRequired",
    });
    expect(await editor.requestResult("_session/steering", { sessionId, prompt })).toMatchObject({
      outcome: "startedNewTurn",
    });
    await editor.waitForMessage((message) => readUpdate(message)["status"] === "in_progress");
    // The turn has no step left in which the model could read the message.
    expect(await editor.requestResult("_session/steering", asPrompt)).toMatchObject({
      outcome: "queued",
    });
    const host = await connectHost();
    await host.requestResult("session/attach", { sessionId, clientId: "host", mode: "observer" });
    const refused = await host.requestResult("_session/steering", { sessionId, prompt });
    expect(refused).toEqual({ outcome: "failed", reason: expect.stringContaining("take over") });
    gate.open();
    await eventually(() => expect(readAgentText(editor)).toContain("One."));
  });
});

describe("Deprecated names of session/inject", () => {
  it.each(["user_message", "session/input", "agent/user_message"])(
    "The notification %s steers the only session of the connection",
    async (method) => {
      const { connectHost, gate, provider } = createSteeringWorld(connectLines, [
        looks,
        says("Done."),
      ]);
      const host = await connectHost();
      const sessionId = await openSession(host);
      const { turn } = await startToolTurn(host, sessionId);
      host.send({ jsonrpc: "2.0", method, params: { content: "Use metric units" } });
      const params = { sessionId, content: "Then stop", mode: "finish_step" };
      host.send({ jsonrpc: "2.0", method, params });
      await eventually(async () => {
        const pending = await host.requestResult("session/pending_injections", { sessionId });
        expect(pending["pendingCount"]).toBe(2);
      });
      gate.open();
      await turn;
      expect(provider.invocations[1]?.input).toMatchObject({
        texts: ["Use metric units", "Then stop"],
      });
    },
  );

  it("An invalid message under a deprecated name is reported [W-20]", async () => {
    const { connectHost } = createSteeringWorld(connectLines, [says("Hi.")]);
    const host = await connectHost();
    await openSession(host);
    host.send({ jsonrpc: "2.0", method: "user_message", params: { content: "Hi", mode: "soon" } });
    const { params } = await host.waitForMessage(({ method }) => method === "_harn/agentEvent");
    expect(params).toMatchObject({
      kind: "notification_failed",
      method: "user_message",
      error: { code: -32602, message: expect.stringContaining('"mode"') },
    });
  });

  it("A message without a session id is refused if the connection has several sessions [W-18]", async () => {
    const { connectHost } = createSteeringWorld(connectLines, [says("Hi.")]);
    const host = await connectHost();
    await openSession(host);
    await openSession(host);
    for (const method of ["session/remind", "agent/resume", "user_message"]) {
      const params = { body: "Look", content: "Look" };
      const chosen = method === "session/remind" ? { body: params.body } : params;
      expect(await host.request(method, chosen)).toMatchObject({
        error: { message: expect.stringContaining("several sessions") },
      });
    }
  });
});
