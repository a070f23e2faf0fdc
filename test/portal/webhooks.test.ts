import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createInboxIndex } from "../../src/surfaces/portal/live/inbox-index.ts";
import { sendWebhook } from "../../src/surfaces/webhooks/send-webhook.ts";
import type { Webhook } from "../../src/surfaces/webhooks/webhook-delivery.ts";
import { runWebhooks } from "../../src/surfaces/webhooks/webhook-dispatcher.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createPolicy } from "../support/session/create-policy.ts";
import { createScriptedProvider, says, wants } from "../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../support/session/session-world.ts";
import { waitUntil } from "../support/with-deadline.ts";

const SECRET = "a secret of the webhook";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly json: { readonly id: string; readonly type: string };
}

/** A receiver which answers with the given statuses, then with 204. */
async function startReceiver(statuses: number[] = []) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({ headers: request.headers, body, json: JSON.parse(body) });
      return response.writeHead(statuses.shift() ?? 204, { location: "/elsewhere" }).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hook?key=1`;
  return { received, url, types: () => received.map(({ json }) => json.type) };
}

async function payingWorld(): Promise<SessionWorld> {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "pay", input: { card: "4111" } }),
    says("Paid."),
  ]);
  const pay = createTool({ name: "pay" }, () => "paid");
  const policy = createPolicy([["pay", "ask", 1]]);
  return openWorld(createAgent({ provider, tools: [pay], policy }));
}

/** Starts the webhooks of a process. `stop` ends them like the end of the process. */
function start({ sessions }: Pick<SessionWorld, "sessions">, webhooks: readonly Webhook[]) {
  const clock = createFakeClock();
  const reports: unknown[] = [];
  const stopping = new AbortController();
  const done = runWebhooks({
    sessions,
    inbox: createInboxIndex(sessions),
    webhooks,
    publicUrl: "https://agents.example",
    clock,
    version: "1.2.3",
    signal: stopping.signal,
    report: (error) => reports.push(error),
  });
  const stop = async (): Promise<void> => {
    stopping.abort();
    await done;
  };
  onTestFinished(stop);
  return { clock, reports, stop };
}

const webhook = (url: string): Webhook => ({ url, secret: SECRET, allowPrivate: true });

describe("Webhooks", () => {
  it("A signed message is sent when a request is opened and when it is resolved, without its arguments", async () => {
    const world = await payingWorld();
    const { url, received, types } = await startReceiver();
    const { clock } = start(world, [webhook(url)]);
    await world.prompt("Pay with 4111.");
    const request = await world.waitForEvent("approval.requested");
    await waitUntil(() => received.length === 1);
    const { headers, body, json } = received[0] ?? { headers: {}, body: "" };
    expect(json).toEqual({
      id: expect.stringMatching(/^whk_[0-9a-f]{26}$/),
      type: "request.opened",
      session: { id: world.sessionId, agent: "demo", principal: "me" },
      request: {
        id: request.approvalId,
        question: "run",
        sentence: "demo needs an approval to run pay",
        requestedAt: expect.any(Number),
        deadline: request.deadline,
      },
      link: `https://agents.example/sessions/${world.sessionId}`,
    });
    expect(body).not.toContain("4111");
    const timestamp = String(Math.floor(clock.now() / 1000));
    const signature = createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex");
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "spanline/1.2.3",
      "spanline-event": "request.opened",
      "spanline-id": json?.id,
      "spanline-timestamp": timestamp,
      "spanline-signature": `v1=${signature}`,
    });
    await world.decideApproval(request.approvalId, "allow");
    await waitUntil(() => received.length === 2);
    expect(types()).toEqual(["request.opened", "request.resolved"]);
    expect(received[1]?.json.id).not.toBe(json?.id);
    await waitUntil(async () => {
      const { records } = await world.store.listRecords({ scope: "webhook", limit: 10 });
      return records.length === 0;
    });
  });

  it("Details are sent if they are configured, and only the configured events", async () => {
    const world = await payingWorld();
    const { url, received } = await startReceiver();
    start(world, [{ ...webhook(url), details: true, events: ["request.opened"] }]);
    await world.prompt("Pay.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await waitUntil(() => received.length === 1);
    expect(received[0]?.json).toMatchObject({
      request: { details: { title: "Pay.", arguments: { card: "4111" } } },
    });
    await world.decideApproval(approvalId, "deny");
    await waitUntil(async () => {
      const { records } = await world.store.listRecords({ scope: "webhook", limit: 10 });
      return records.length === 0;
    });
    expect(received).toHaveLength(1);
  });

  it("A failed delivery is repeated with the same id, in order, and a redirect is not followed", async () => {
    const world = await payingWorld();
    const { url, received, types } = await startReceiver([500, 302]);
    const { clock } = start(world, [webhook(url)]);
    await world.prompt("Pay.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await waitUntil(() => received.length === 1 && clock.pending > 0);
    await world.decideApproval(approvalId, "allow");
    clock.advance(1000);
    await waitUntil(() => received.length === 2 && clock.pending > 0);
    clock.advance(5000);
    await waitUntil(() => received.length === 4);
    expect(types()).toEqual([...Array<string>(3).fill("request.opened"), "request.resolved"]);
    expect(new Set(received.slice(0, 3).map(({ json }) => json.id)).size).toBe(1);
  });

  it("A message that was not delivered when the process ended is delivered by the next process, and a delivered message is not repeated", async () => {
    const world = await payingWorld();
    const dead = await startReceiver([500]);
    const { url } = dead;
    const first = start(world, [webhook(url)]);
    await world.prompt("Pay.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await waitUntil(() => dead.received.length === 1 && first.clock.pending > 0);
    await first.stop();
    const second = start(world, [webhook(url)]);
    await waitUntil(() => dead.received.length === 2);
    await waitUntil(async () => {
      const { records } = await world.store.listRecords({ scope: "webhook", limit: 10 });
      return JSON.stringify(records).includes('"isAnnounced":true');
    });
    await second.stop();
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    start(world, [webhook(url)]);
    await waitUntil(() => dead.received.length === 3);
    expect(dead.types()).toEqual(["request.opened", "request.opened", "request.resolved"]);
    expect(dead.received[0]?.json.id).toBe(dead.received[1]?.json.id);
  });

  it("A private address is refused unless it is allowed, and the refusal is reported once", async () => {
    const world = await payingWorld();
    const { url, received } = await startReceiver();
    const { reports } = start(world, [{ url, secret: SECRET }]);
    await world.prompt("Pay.");
    await waitUntil(() => reports.length === 1);
    expect(String(reports[0])).toContain("127.0.0.1 is an address of a private network");
    expect(String(reports[0])).not.toContain("key=1");
    expect(received).toEqual([]);
  });

  it("A name that resolves to a private address is refused", async () => {
    const { url } = await startReceiver();
    const request = { headers: {}, body: "{}", allowPrivate: false, setting: "allowPrivate" };
    const local = new URL(url.replace("127.0.0.1", "localhost"));
    const { signal } = new AbortController();
    await expect(sendWebhook({ ...request, url: local }, signal)).rejects.toMatchObject({
      code: "access_denied",
    });
    for (const host of ["[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1"]) {
      const address = new URL(`http://${host}:${new URL(url).port}/`);
      await expect(sendWebhook({ ...request, url: address }, signal)).rejects.toMatchObject({
        code: "access_denied",
      });
    }
  });
});
