import { describe, expect, it } from "vitest";
import { isObject } from "../../../src/data/json.ts";
import {
  connectAcpClient,
  readText,
  type AcpPeer,
  type Message,
} from "../../support/acp/acp-client.ts";
import { ACP_TRANSPORTS } from "../../support/acp/transports.ts";
import { createGate, type Gate } from "../../support/gate.ts";
import {
  createClientToolSessions,
  type ClientToolSessions,
} from "../../support/session/client-tool-sessions.ts";
import { says, wants } from "../../support/session/scripted-provider.ts";
import { createTool } from "../../support/session/session-world.ts";
import { formatSortedJson } from "../../support/sorted-json.ts";

/** The example of the bridge protocol, which names no session. */
const EXAMPLE = {
  body: "The workspace changed while you were idle; re-read src/lib.rs before editing.",
  tags: ["workspace"],
  dedupe_key: "workspace-change",
  ttl_turns: 2,
  role_hint: "system",
  mode: "interrupt_immediate",
  _meta: { harn: { origin: "file-watcher" } },
};

interface World extends ClientToolSessions {
  /** Lets the tool of a turn finish. */
  readonly gate: Gate;
}

function createWorld(): World {
  const gate = createGate();
  const look = createTool({ name: "look" }, async () => {
    await gate.pass();
    return "seen";
  });
  const script = [wants({ id: "c1", name: "look" }), says("Done.")];
  return { ...createClientToolSessions(script, { tools: [look] }), gate };
}

/** Starts a turn with a tool which runs until the gate opens. */
async function startTurn(client: AcpPeer): Promise<{ sessionId: string; done: Promise<Message> }> {
  const sessionId = await client.newSession();
  const prompt = [{ type: "text", text: "Go" }];
  const done = client.requestResult("session/prompt", { sessionId, prompt });
  await client.waitForMessage(({ params }) =>
    JSON.stringify(params ?? "").includes('"in_progress"'),
  );
  return { sessionId, done };
}

function errorOf({ error }: Message): Message {
  if (!isObject(error)) throw new Error("The request was accepted");
  return error;
}

function listEmitted(client: AcpPeer): unknown[] {
  return client
    .listUpdates()
    .filter(({ sessionUpdate }) => sessionUpdate === "reminder_emitted")
    .map((update) => Object(Object(update["_meta"])["harn"])["reminder"]);
}

describe.each(ACP_TRANSPORTS)("Reminders over %s", (_, connect) => {
  it("The documented example is accepted, and its update has exactly the documented fields [B-049] [B-052] [B-054] [B-180] [ACP-116]", async () => {
    const { sessions, gate } = createWorld();
    const client = await connect(sessions);
    const { done } = await startTurn(client);
    const reply = await client.requestResult("session/remind", EXAMPLE);
    expect(reply).toEqual({ reminderId: expect.any(String), status: "accepted" });
    expect(listEmitted(client)).toEqual([]);
    gate.open();
    await done;
    const update = client
      .listUpdates()
      .find(({ sessionUpdate }) => sessionUpdate === "reminder_emitted");
    expect(formatSortedJson(update)).toBe(
      formatSortedJson({
        sessionUpdate: "reminder_emitted",
        _meta: {
          harn: {
            reminder: {
              reminderId: reply["reminderId"],
              tags: ["workspace"],
              body: EXAMPLE.body,
              roleHint: "system",
              renderedRole: "user",
              source: "bridge",
              ttlTurns: 2,
            },
          },
        },
      }),
    );
    expect(JSON.stringify(client.listUpdates())).not.toContain("system-reminder");
  });

  it("Pending messages and reminders are listed in order until they are delivered [B-189] [B-190] [B-191] [B-192] [ACP-117] [R-009]", async () => {
    const { sessions, gate } = createWorld();
    const client = await connect(sessions);
    const { sessionId, done } = await startTurn(client);
    const nested = { sessionId, mode: "finish_step", reminder: { body: "First", id: "rem-1" } };
    await client.requestResult("session/remind", nested);
    const inject = { sessionId, mode: "steer", content: "Use metric units" };
    const { messageId } = await client.requestResult("session/inject", inject);
    const { reminderId } = await client.requestResult("session/remind", {
      ...EXAMPLE,
      sessionId,
      mode: "finish_step",
    });
    const list = () => client.requestResult("session/pending_injections", { sessionId });
    const { pendingCount, injections } = await list();
    expect(pendingCount).toBe(3);
    expect(injections).toEqual([
      expect.objectContaining({ kind: "reminder", reminderId: "rem-1", body: "First" }),
      {
        kind: "user",
        id: messageId,
        messageId: readText(messageId),
        mode: "steer",
        content: [{ type: "text", text: "Use metric units" }],
        position: 1,
      },
      {
        kind: "reminder",
        id: reminderId,
        reminderId: readText(reminderId),
        position: 2,
        preserveOnCompact: false,
        propagate: "session",
        firedAtTurn: null,
        originatingAgentId: null,
        mode: "finish_step",
        body: EXAMPLE.body,
        tags: ["workspace"],
        dedupeKey: "workspace-change",
        ttlTurns: 2,
        roleHint: "system",
        source: "bridge",
      },
    ]);
    gate.open();
    await done;
    expect(await list()).toEqual({ pendingCount: 0, injections: [] });
  });

  it("A reminder is revoked once, and not after its delivery [B-193] [B-194] [B-195] [ACP-117]", async () => {
    const { sessions, gate } = createWorld();
    const client = await connect(sessions);
    const { sessionId, done } = await startTurn(client);
    const remind = async (id: string): Promise<object> => {
      const reminder = { sessionId, id, body: "Read it again" };
      await client.requestResult("session/remind", reminder);
      return { sessionId, reminderId: id };
    };
    const [first, second] = [await remind("one"), await remind("two")];
    expect(await client.requestResult("session/revoke_reminder", first)).toEqual({
      reminderId: "one",
      status: "revoked",
    });
    expect(await client.requestResult("session/revoke_reminder", first)).toEqual({
      reminderId: "one",
      status: "already_revoked",
    });
    gate.open();
    await done;
    expect(listEmitted(client)).toMatchObject([{ reminderId: "two" }]);
    const late = await client.request("session/revoke_reminder", second);
    expect(errorOf(late)).toMatchObject({ data: { reason: "already_delivered" } });
    const unknown = { sessionId, reminderId: "three" };
    const missing = await client.request("session/revoke_reminder", unknown);
    expect(errorOf(missing)).toMatchObject({ data: { reason: "unknown_message_id" } });
  });

  it("An invalid reminder is refused with the code of the protocol, and nothing is queued [B-186] [B-187] [ACP-116]", async () => {
    const { sessions, readLog } = createWorld();
    const client = await connect(sessions);
    const sessionId = await client.newSession();
    const codes = [];
    for (const fields of [{ body: "" }, { body: "x", content: "x" }, { body: "x", prio: 1 }]) {
      const response = await client.request("session/remind", { sessionId, ...fields });
      const { code, data } = errorOf(response);
      codes.push([code, Object(data).code]);
    }
    expect(codes).toEqual([
      [-32602, "HARN-RMD-002"],
      [-32602, "HARN-RMD-002"],
      [-32602, "HARN-RMD-001"],
    ]);
    const types = (await readLog(sessionId)).map(({ event }) => event.type);
    expect(types).not.toContain("reminder.queued");
  });

  it("A failed notification is reported to its sender with the code [W-20]", async () => {
    const { sessions } = createWorld();
    const client = await connect(sessions);
    const sessionId = await client.newSession();
    const params = { sessionId, body: "x", mode: "sometime" };
    client.send({ jsonrpc: "2.0", method: "session/remind", params });
    const isReport = ({ method }: Message): boolean => method === "_harn/agentEvent";
    const { params: report } = await client.waitForMessage(isReport);
    expect(report).toMatchObject({
      sessionId,
      kind: "notification_failed",
      method: "session/remind",
      error: { code: -32602, data: { code: "HARN-RMD-002" } },
    });
  });
});

describe("session/remind", () => {
  it("A reminder without a session is refused if the connection has several sessions or none [W-18]", async () => {
    const client = await connectAcpClient(createWorld().sessions);
    await client.request("initialize", { protocolVersion: 1 });
    const isMissing = { code: -32602, message: expect.stringContaining("sessionId") };
    expect(errorOf(await client.request("session/remind", EXAMPLE))).toMatchObject(isMissing);
    const sessionId = await client.newSession();
    await client.requestResult("session/new", { cwd: "/work", mcpServers: [] });
    expect(errorOf(await client.request("session/remind", EXAMPLE))).toMatchObject(isMissing);
    const named = await client.requestResult("session/remind", { ...EXAMPLE, sessionId });
    expect(named).toMatchObject({ status: "accepted" });
  });

  it("The default mode reaches the model, and an unknown mode is refused [B-182] [W-17] [R-007]", async () => {
    const { sessions, gate, readLog } = createWorld();
    const client = await connectAcpClient(sessions);
    const { sessionId, done } = await startTurn(client);
    const refused = await client.request("session/remind", { sessionId, body: "x", mode: "later" });
    expect(errorOf(refused)).toMatchObject({ code: -32602, data: { code: "HARN-RMD-002" } });
    await client.requestResult("session/remind", { sessionId, body: "Read it again" });
    gate.open();
    await done;
    const sent = (await readLog(sessionId)).flatMap(({ event }) =>
      event.type === "message.sent" && event.origin === "reminder" ? [event.content] : [],
    );
    expect(JSON.stringify(sent)).toContain("Read it again");
  });

  it("An audit_only reminder is never sent to the host as an update [B-053] [B-183]", async () => {
    const { sessions, gate } = createWorld();
    const client = await connectAcpClient(sessions);
    const { sessionId, done } = await startTurn(client);
    const reminder = { sessionId, body: "For the record", mode: "audit_only" };
    const { reminderId } = await client.requestResult("session/remind", reminder);
    gate.open();
    await done;
    expect(listEmitted(client)).toEqual([]);
    const late = await client.request("session/revoke_reminder", { sessionId, reminderId });
    expect(errorOf(late)).toMatchObject({ data: { reason: "already_delivered" } });
  });

  it("A repeated id is refused with its reason", async () => {
    const client = await connectAcpClient(createWorld().sessions);
    const sessionId = await client.newSession();
    const reminder = { sessionId, id: "one", body: "x" };
    expect(await client.requestResult("session/remind", reminder)).toEqual({
      reminderId: "one",
      status: "accepted",
    });
    const refused = errorOf(await client.request("session/remind", reminder));
    expect(readText(Object(refused["data"]).reason)).toBe("reminder_id_in_use");
  });
});
