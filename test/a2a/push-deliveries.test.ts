import { createPublicKey, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/tools/define-tool.ts";
import { SEQUENCE_KEY } from "../../src/wire/a2a/extensions.ts";
import { formatPushKey } from "../../src/surfaces/a2a/push/push-store.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { hangs, says, wants } from "../support/session/scripted-provider.ts";
import { waitUntil } from "../support/with-deadline.ts";
import { createMessage, serveA2a, type ServedA2a } from "./support/serve-a2a.ts";
import {
  answers,
  answersWithoutEnd,
  describePush,
  neverAnswers,
  startReceiver,
  type Answer,
  type Receiver,
} from "./support/start-receiver.ts";

const create = (served: ServedA2a, params: object) =>
  served.rpc("CreateTaskPushNotificationConfig", params);

async function send(served: ServedA2a, text: string, configuration: object = {}, place = {}) {
  const params = { message: createMessage(text, place), configuration };
  return (await served.rpc("SendMessage", params)).result.task;
}

/** The configs in the store, done and not done. */
async function readStored(served: ServedA2a) {
  const { records } = await served.sessions.listRecords({ scope: "a2a-push", limit: 100 });
  // oxlint-disable-next-line typescript/no-explicit-any
  return records.map(({ value }) => value as any);
}

const isDone = async (served: ServedA2a) => (await readStored(served))[0]?.isDone === true;

/** An agent that asks for an approval, then answers. */
function createGatedAgent() {
  const pay = defineTool({
    name: "pay",
    description: "Pays",
    input: { type: "object" },
    run: () => "paid",
  });
  return { tools: [pay], approvals: { ask: ["pay"] } };
}

describe("Notifications", () => {
  it("A message with a config sends every state, whole artifacts and the end, in the order of the task", async () => {
    const { url, received } = await startReceiver();
    const scripts = [wants({ id: "c1", name: "pay" }), says("Paid in three parts")];
    const served = await serveA2a(scripts, { agent: createGatedAgent(), push: {} });
    const configuration = { taskPushNotificationConfig: { url } };
    const { id: taskId } = await send(served, "Pay", configuration);
    await send(served, "allow", {}, { taskId });
    await waitUntil(() => isDone(served));
    expect(received.map(describePush)).toEqual([
      "task SUBMITTED",
      "status WORKING",
      "artifact Let me see.",
      "status INPUT_REQUIRED",
      "status WORKING",
      "artifact Paid in three parts",
      "status COMPLETED",
    ]);
  });

  it("A notification has the token, the credentials, the sequence and a signature of this server", async () => {
    const { url, received } = await startReceiver();
    const served = await serveA2a([says("Hi")], { push: {} });
    await send(served, "Hello", {
      taskPushNotificationConfig: {
        url: `${url}?key=1`,
        token: "token-1",
        authentication: {
          scheme: "Basic",
          credentials: "YTpi",
        },
      },
    });
    await waitUntil(() => isDone(served));
    const [first] = received;
    expect(first?.path).toBe("/hook?key=1");
    expect(first?.headers).toMatchObject({
      "content-type": "application/a2a+json",
      "user-agent": "spanline/1.2.3",
      "a2a-version": "1.0",
      authorization: "Basic YTpi",
      "x-a2a-notification-token": "token-1",
      "spanline-sequence": String(first?.json.task.metadata[SEQUENCE_KEY]),
      "spanline-id": expect.stringMatching(/^push_[0-9a-f]{26}$/),
    });
    expect(new Set(received.map(({ headers }) => headers["spanline-id"])).size).toBe(
      received.length,
    );
    const keys = await (await fetch(`${served.url}/.well-known/jwks.json`)).json();
    for (const { headers, body } of received) {
      const key = keys.keys.find(
        ({ kid }: { readonly kid: string }) => kid === headers["spanline-key-id"],
      );
      const signature = String(headers["spanline-signature"]).replace("v1a=", "");
      const isSigned = (text: string) =>
        verify(
          null,
          Buffer.from(`${String(headers["spanline-timestamp"])}.${text}`),
          createPublicKey({ key, format: "jwk" }),
          Buffer.from(signature, "base64"),
        );
      expect([isSigned(body), isSigned(`${body} `)]).toEqual([true, false]);
    }
  });

  it("A config of version 0.3 sends the task after each update, until the task has ended", async () => {
    const { url, received } = await startReceiver();
    const served = await serveA2a([says("Hello there")], { push: {} });
    const message = { ...createMessage("Hi"), role: "user", parts: [{ kind: "text", text: "Hi" }] };
    const configuration = { pushNotificationConfig: { url, token: "t" } };
    await served.rpc("message/send", { message, configuration });
    await waitUntil(() => isDone(served));
    const tasks = received.map(({ json }) => json);
    expect(tasks.map(({ kind, status }) => [kind, status.state])).toEqual([
      ["task", "submitted"],
      ["task", "working"],
      ["task", "working"],
      ["task", "completed"],
    ]);
    expect(tasks.at(-1).artifacts[0].parts).toEqual([{ kind: "text", text: "Hello there" }]);
    expect(received[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "a2a-version": "0.3",
    });
  });

  it("A config that is created for an ended task sends the task once", async () => {
    const { url, received } = await startReceiver();
    const served = await serveA2a([says("Hi")], { push: {} });
    const { id: taskId } = await send(served, "Hello");
    await create(served, { taskId, id: "c", url });
    await waitUntil(() => isDone(served));
    expect(received.map(describePush)).toEqual(["task COMPLETED"]);
    expect(received[0]?.json.task.artifacts[0].parts).toEqual([{ text: "Hi" }]);
    await create(served, { taskId, id: "c", url });
    await create(served, { taskId, id: "c", url: `${url}/2` });
    await waitUntil(() => received.length === 2);
    expect(received[1]?.path).toBe("/hook/2");
  });

  it("A message that is sent again has one config, and no update is sent twice", async () => {
    const { url, received } = await startReceiver();
    const served = await serveA2a([says("Hi")], { push: {} });
    const place = { messageId: "m-1" };
    for (let attempt = 0; attempt < 2; attempt += 1)
      await send(served, "Go", { taskPushNotificationConfig: { url } }, place);
    await waitUntil(() => isDone(served));
    expect(await readStored(served)).toHaveLength(1);
    expect(received.map(describePush)).toEqual([
      "task SUBMITTED",
      "status WORKING",
      "artifact Hi",
      "status COMPLETED",
    ]);
  });
});

describe("Receivers that fail", () => {
  it("A failed notification is repeated with the same id before later ones are sent, and a redirect is not followed", async () => {
    const { url, received } = await startReceiver([answers(500), answers(302)]);
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([says("Hi")], { push: { clock } });
    await send(served, "Go", { taskPushNotificationConfig: { url } });
    await waitUntil(() => received.length === 1 && clock.pending > 0);
    clock.advance(999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    await waitUntil(() => received.length === 2 && clock.pending > 0);
    clock.advance(5000);
    await waitUntil(() => isDone(served));
    expect(received.map(describePush)).toEqual([
      "task SUBMITTED",
      "task SUBMITTED",
      "task SUBMITTED",
      "status WORKING",
      "artifact Hi",
      "status COMPLETED",
    ]);
    expect(new Set(received.slice(0, 3).map(({ headers }) => headers["spanline-id"])).size).toBe(1);
    expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["/hook"]));
  });

  it("A receiver that never answers delays neither the task nor another receiver, and gets the same notification again", async () => {
    const silent = await startReceiver(Array.from({ length: 3 }, () => neverAnswers));
    const quick = await startReceiver();
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([says("Hi")], { push: { clock, timeoutMs: 200 } });
    const configuration = { taskPushNotificationConfig: { id: "silent", url: silent.url } };
    const { id: taskId, status } = await send(served, "Go", configuration);
    expect(status.state).toBe("TASK_STATE_COMPLETED");
    await create(served, { taskId, id: "quick", url: quick.url });
    await waitUntil(() => quick.received.length === 1);
    expect(quick.received.map(describePush)).toEqual(["task COMPLETED"]);
    await waitUntil(() => clock.pending === 1);
    clock.advance(1000);
    await waitUntil(() => silent.received.length === 2);
    expect(silent.received.map(describePush)).toEqual(["task SUBMITTED", "task SUBMITTED"]);
  });

  it("A response without an end is closed after its status, which is the acknowledgement", async () => {
    let closedCount = 0;
    const answer: Answer = (response) => {
      response.on("close", () => (closedCount += 1));
      answersWithoutEnd(response);
    };
    const endless = await startReceiver(Array.from({ length: 4 }, () => answer));
    const served = await serveA2a([says("Hi")], { push: { timeoutMs: 60_000 } });
    await send(served, "Go", { taskPushNotificationConfig: { url: endless.url } });
    await waitUntil(() => isDone(served));
    expect(endless.received).toHaveLength(4);
    await waitUntil(() => closedCount === 4);
  });

  it.each([
    ["reports that it no longer exists", [answers(410)], 1],
    ["fails for the last time", Array.from({ length: 9 }, () => answers(500)), 9],
  ])(
    "The config of a receiver that %s is deleted, without its path in the report",
    async (_, planned, attempts) => {
      const { url, received } = await startReceiver([...planned]);
      const clock = createFakeClock(Date.now());
      const served = await serveA2a([says("Hi")], { push: { clock } });
      const { id: taskId } = await send(served, "Go", { taskPushNotificationConfig: { url } });
      await waitUntil(async () => {
        if (clock.pending > 0) clock.advance(7_200_000);
        return (await readStored(served)).length === 0;
      });
      await waitUntil(() => served.pushReports.length === 1);
      expect(received).toHaveLength(attempts);
      expect(String(served.pushReports[0])).toContain(
        `The push notifications of ${taskId} to http:`,
      );
      expect(String(served.pushReports[0])).not.toContain("/hook");
    },
  );

  it("A name that resolves to a private address only when a notification is sent is refused, and its config is deleted", async () => {
    const { url, received } = await startReceiver();
    const served = await serveA2a([hangs("Half")], { push: { allowPrivate: false } });
    const { id: taskId, contextId } = await send(served, "Go", { returnImmediately: true });
    const record = await served.sessions.find(contextId);
    // The same record as of a name whose address was public when the config was created.
    const config = { id: "c", url: url.replace("127.0.0.1", "localhost") };
    const value = {
      owner: "local",
      taskId,
      incarnation: record?.incarnation ?? "",
      config,
      version: "1.0",
      snapshotSeq: 0,
      acknowledgedSeq: 0,
      isDone: false,
    } as const;
    await served.sessions.putRecord("a2a-push", formatPushKey(value), { value });
    await served.restartPush();
    await waitUntil(() => served.pushReports.length === 1);
    expect(String(served.pushReports[0])).toContain("localhost is an address of a private network");
    expect(String(served.pushReports[0])).toContain("serve.a2a.push.allowPrivate");
    expect([received, await readStored(served)]).toEqual([[], []]);
  });
});

describe("The end of a config", () => {
  it("A deleted config gets no further notification, also not a repeated one", async () => {
    const { url, received } = await startReceiver([answers(500)]);
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([says("Hi")], { push: { clock } });
    const configuration = { taskPushNotificationConfig: { id: "c", url } };
    const { id: taskId } = await send(served, "Go", configuration);
    await waitUntil(() => received.length === 1 && clock.pending > 0);
    const { result } = await served.rpc("DeleteTaskPushNotificationConfig", { taskId, id: "c" });
    expect(result).toEqual({});
    expect(clock.pending).toBe(0);
    expect([received.length, await readStored(served)]).toEqual([1, []]);
  });

  it("A config that another process deleted gets no further notification", async () => {
    const { url, received } = await startReceiver([answers(500)]);
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([says("Hi")], { push: { clock } });
    await send(served, "Go", { taskPushNotificationConfig: { id: "c", url } });
    await waitUntil(() => received.length === 1 && clock.pending > 0);
    const { records } = await served.sessions.listRecords({ scope: "a2a-push", limit: 1 });
    await served.sessions.deleteRecord("a2a-push", records[0]?.key ?? "");
    clock.advance(1000);
    const next = await send(served, "Again", { taskPushNotificationConfig: { id: "n", url } });
    await waitUntil(() => isDone(served));
    expect(received.slice(1).every(({ body }) => body.includes(next.id))).toBe(true);
    expect(served.pushReports).toEqual([]);
  });

  it("The configs of a deleted session are deleted", async () => {
    const { url, received } = await startReceiver();
    const served = await serveA2a([hangs("Half")], { push: {} });
    const configuration = { returnImmediately: true, taskPushNotificationConfig: { url } };
    const { contextId } = await send(served, "Go", configuration);
    await waitUntil(() => received.length >= 2);
    await served.sessions.delete(contextId);
    await waitUntil(async () => (await readStored(served)).length === 0);
    expect(served.pushReports).toEqual([]);
  });

  it.each(["deleted", "created again"])(
    "The config of a session that was %s while no process ran is deleted at the next start",
    async (fate) => {
      const { url, received } = await startReceiver();
      const served = await serveA2a([hangs("Half")], { push: {} });
      const { id: taskId } = await send(served, "Go", { returnImmediately: true });
      const value = {
        owner: "local",
        taskId: fate === "deleted" ? taskId.replace("task_ses_", "task_ses_0") : taskId,
        incarnation: "another",
        config: { id: "c", url },
        version: "1.0",
        snapshotSeq: 0,
        acknowledgedSeq: 0,
        isDone: false,
      } as const;
      await served.sessions.putRecord("a2a-push", formatPushKey(value), { value });
      await served.restartPush();
      await waitUntil(async () => (await readStored(served)).length === 0);
      expect([received, served.pushReports]).toEqual([[], []]);
    },
  );

  it("A config is stored for 7 days after its last notification, and for a day after the end of its task", async () => {
    const { url } = await startReceiver();
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([hangs("Half")], { push: { clock } });
    const { id: taskId } = await send(served, "Go", { returnImmediately: true });
    await create(served, { taskId, id: "c", url });
    const readExpiry = async () => {
      const { records } = await served.sessions.listRecords({ scope: "a2a-push", limit: 1 });
      return (records[0]?.expiresAt ?? 0) - clock.now();
    };
    expect(await readExpiry()).toBe(7 * 86_400_000);
    await served.rpc("CancelTask", { id: taskId });
    await waitUntil(() => isDone(served));
    expect(await readExpiry()).toBe(86_400_000);
  });
});

describe("A restart", () => {
  it("The deliveries continue after the last acknowledged update, and no update is repeated", async () => {
    const { url, received } = await startReceiver([answers(204), answers(500)]);
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([says("Hi")], { push: { clock } });
    await send(served, "Go", { taskPushNotificationConfig: { url } });
    await waitUntil(() => received.length === 2 && clock.pending > 0);
    await served.restartPush();
    await waitUntil(() => isDone(served));
    expect(received.map(describePush)).toEqual([
      "task SUBMITTED",
      "status WORKING",
      "status WORKING",
      "artifact Hi",
      "status COMPLETED",
    ]);
    const [, second, third] = received.map(({ headers }) => headers);
    expect(third?.["spanline-id"]).toBe(second?.["spanline-id"]);
    expect(third?.["spanline-key-id"]).toBe(second?.["spanline-key-id"]);
  });

  it("The configs of a caller who lost its key rest, and those of other callers continue", async () => {
    const keys = ["ada", "bob"].map((name) => ({ name, key: `key-of-${name}-000000001` }));
    const receivers: Receiver[] = [];
    const clock = createFakeClock(Date.now());
    const served = await serveA2a([says("Hi")], { keys, push: { clock } });
    for (const { key } of keys) {
      const receiver = await startReceiver([answers(500)]);
      receivers.push(receiver);
      const configuration = { taskPushNotificationConfig: { url: receiver.url } };
      const params = { message: createMessage("Go"), configuration };
      await served.rpc("SendMessage", params, { authorization: `Bearer ${key}` });
    }
    await waitUntil(() => receivers.every(({ received }) => received.length === 1));
    await served.restartPush({ callers: [{ id: "bob", rights: ["prompt"] }] });
    const states = async () => (await readStored(served)).map((push) => [push.owner, push.isDone]);
    await waitUntil(async () => JSON.stringify(await states()).includes('["bob",true]'));
    expect(await states()).toContainEqual(["ada", false]);
    expect(receivers.map(({ received }) => received.length)).toEqual([1, 5]);
  });
});
