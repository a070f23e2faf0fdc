import { describe, expect, it, onTestFinished } from "vitest";
import type { InboxFrame, LiveFrame, SessionsFrame } from "../../src/wire/live/live-frames.ts";
import { createFakeClock, advanceUntil, type FakeClock } from "../support/fake-clock.ts";
import { createPolicy } from "../support/session/create-policy.ts";
import { createScriptedProvider, wants, says } from "../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../support/session/session-world.ts";
import { connectLive, type LiveClient } from "./live-client.ts";
import { loggedSessions, type LoggedSessions } from "./logged-sessions.ts";
import { servedPortal, withToken } from "./start-portal.ts";

const ada = { id: "ada", rights: ["prompt"] } as const;
const local = { id: "local", rights: ["prompt"] } as const;

interface World<Served> {
  readonly sessions: Served;
  readonly clock: FakeClock;
  readonly connect: (headers?: typeof withToken) => Promise<LiveClient>;
}

/** Sessions behind the portal, with a fake clock for the time between two frames of a topic. */
async function served<Served extends LoggedSessions | SessionWorld["sessions"]>(
  sessions: Served,
): Promise<World<Served>> {
  const clock = createFakeClock();
  const portal = await servedPortal(sessions, { clock });
  onTestFinished(() => portal.close());
  return { sessions, clock, connect: (headers) => connectLive(portal.port, headers) };
}

/** Waits for a frame, and lets the time between frames pass. */
async function nextOf<Type extends LiveFrame["type"]>(
  client: LiveClient,
  clock: FakeClock,
  type: Type,
) {
  const frame = client.next(type);
  await advanceUntil(clock, frame);
  return frame;
}

describe("The session list of /api/live", () => {
  it("The first frame has the newest sessions of the caller, and later frames have the changes", async () => {
    const { sessions, clock, connect } = await served(loggedSessions());
    const first = await sessions.open({ principal: local, title: "First" });
    await sessions.open({ principal: ada, title: "Hidden" });
    const client = await connect();
    client.send({ type: "watch", topic: "sessions" });
    const { incarnation, label, folders, lineage, wakeAt, seq, ...fields } = first;
    expect([label, folders, lineage, wakeAt]).toEqual([null, [], null, null]);
    const summary = { ...fields, cursor: `${incarnation}.${seq}` };
    expect(await nextOf(client, clock, "sessions")).toEqual({
      type: "sessions",
      reset: true,
      sessions: [summary],
      removed: [],
      complete: true,
    });
    const second = await sessions.open({ principal: local, title: "Second" });
    await sessions.open({ principal: ada, sessionId: "hidden", title: "Hidden" });
    expect(await nextOf(client, clock, "sessions")).toMatchObject({
      reset: false,
      sessions: [{ sessionId: second.sessionId, title: "Second" }],
      removed: [],
    });
    await sessions.delete("hidden");
    await sessions.delete(first.sessionId);
    expect(await nextOf(client, clock, "sessions")).toMatchObject({
      sessions: [],
      removed: [first.sessionId],
    });
  });

  it("A caller with the right to control sees the sessions of every principal, and the removal of each", async () => {
    const { sessions, clock, connect } = await served(loggedSessions());
    const { sessionId } = await sessions.open({ principal: ada });
    const client = await connect(withToken);
    client.send({ type: "watch", topic: "sessions" });
    expect((await nextOf(client, clock, "sessions")).sessions).toMatchObject([{ sessionId }]);
    await sessions.delete(sessionId);
    expect((await nextOf(client, clock, "sessions")).removed).toEqual([sessionId]);
  });

  it("Changes within the interval are sent in one frame, each session once", async () => {
    const { sessions, clock, connect } = await served(loggedSessions());
    const { sessionId } = await sessions.open({ principal: local });
    const client = await connect();
    client.send({ type: "watch", topic: "sessions" });
    await client.next("sessions");
    for (let at = 0; at < 50; at++)
      await sessions.log(sessionId, { type: "session.title_changed", title: `${at}` });
    client.send({ type: "ping", id: 1 });
    await client.next("pong");
    expect(client.frames.filter(({ type }) => type === "sessions")).toHaveLength(1);
    const { sessions: changed } = await nextOf(client, clock, "sessions");
    expect(changed.map(({ cursor }) => cursor.endsWith(".51"))).toEqual([true]);
  });

  it("A topic is watched once, ends with unwatch, and can be watched again", async () => {
    const { sessions, clock, connect } = await served(loggedSessions());
    const client = await connect();
    client.send({ type: "watch", topic: "sessions" });
    await client.next("sessions");
    client.send({ type: "watch", topic: "sessions" });
    expect(await client.next("refused")).toMatchObject({
      id: "sessions",
      error: { code: "conflict" },
    });
    client.send({ type: "unwatch", topic: "sessions" });
    client.send({ type: "ping", id: 1 });
    await client.next("pong");
    await sessions.open({ principal: local });
    client.send({ type: "watch", topic: "sessions" });
    const { reset, sessions: listed }: SessionsFrame = await nextOf(client, clock, "sessions");
    expect([reset, listed.length]).toEqual([true, 1]);
  });
});

describe("The inbox of /api/live", () => {
  it("An open request has its whole arguments and votes, and is removed when it is resolved", async () => {
    const world = await payingWorld(2);
    const { clock, connect } = await served(world.sessions);
    const client = await connect(withToken);
    client.send({ type: "watch", topic: "inbox" });
    const empty = { type: "inbox", reset: true, items: [], removed: [], complete: true };
    expect(await nextOf(client, clock, "inbox")).toEqual(empty);
    await world.prompt("Pay.");
    const request = await world.waitForEvent("approval.requested");
    const { approvalId } = request;
    const key = `${world.sessionId}/${approvalId}`;
    const [item] = (await nextOf(client, clock, "inbox")).items;
    expect(item).toEqual({
      key,
      sessionId: world.sessionId,
      title: "Pay.",
      agent: "demo",
      principal: "me",
      requestedAt: expect.any(Number),
      request,
      votes: [],
    });
    expect(request.input).toEqual({ amount: 7 });
    await world.decideApproval(approvalId, "allow");
    const voted = await nextOf(client, clock, "inbox");
    expect(voted.items).toMatchObject([{ key, votes: [{ principal: "me", decision: "allow" }] }]);
    const bob = { id: "bob", rights: ["approve"] } as const;
    await world.send(
      { type: "decide-approval", approvalId, decision: "allow" },
      { principal: bob },
    );
    expect(await nextOf(client, clock, "inbox")).toEqual({
      ...empty,
      reset: false,
      removed: [key],
      complete: undefined,
    });
  });

  it("A second watcher gets the open requests at once, and a caller without the right to control only its own", async () => {
    const world = await payingWorld(1);
    const { clock, connect } = await served(world.sessions);
    await world.prompt("Pay.");
    await world.waitForEvent("approval.requested");
    const clients = [await connect(withToken), await connect(withToken), await connect()];
    const frames: InboxFrame[] = [];
    for (const client of clients) {
      client.send({ type: "watch", topic: "inbox" });
      frames.push(await nextOf(client, clock, "inbox"));
    }
    expect(frames.map(({ items, reset, complete }) => [items.length, reset, complete])).toEqual([
      [1, true, true],
      [1, true, true],
      [0, true, true],
    ]);
  });
});

/** A session whose agent requests the approval of a payment. */
async function payingWorld(approvers: number): Promise<SessionWorld> {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "pay", input: { amount: 7 } }),
    says("Paid."),
  ]);
  const pay = createTool({ name: "pay" }, () => "paid");
  const policy = createPolicy([["pay", "ask", approvers]]);
  return openWorld(createAgent({ provider, tools: [pay], policy }));
}
