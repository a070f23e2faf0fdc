import { expect, it, onTestFinished } from "vitest";
import { waitUntil } from "../support/with-deadline.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent, openWorld } from "../support/session/session-world.ts";
import { connectLive, type LiveClient } from "./live-client.ts";
import { servedPortal, withToken } from "./start-portal.ts";

/** A session on a real store, behind the portal. The fake clock decides when a lost client is detached. */
async function presenceWorld() {
  const world = await openWorld(createAgent({ provider: createScriptedProvider([]) }));
  const clock = createFakeClock();
  const portal = await servedPortal(world.sessions, { clock });
  onTestFinished(() => portal.close());
  const { sessionId } = world;
  const clients = async () =>
    (await world.sessions.status(sessionId)).clients.map(({ name, role }) => `${name} ${role}`);
  return {
    world,
    clock,
    clients,
    waitForClients: (...expected: readonly string[]) =>
      waitUntil(async () => (await clients()).join() === expected.join()),
    subscribe: async (headers: Partial<typeof withToken> = withToken): Promise<LiveClient> => {
      const client = await connectLive(portal.port, { ...headers });
      client.send({ type: "subscribe", id: "s", sessionId });
      return client;
    },
  };
}

const observe = (name: string) => ({ type: "attach", id: "s", name, mode: "observer" }) as const;
const control = (name: string) => ({ type: "attach", id: "s", name, mode: "controller" }) as const;

it("A client is shown to the others under a name chosen by the server, and control is taken over on request", async () => {
  const { subscribe, clients } = await presenceWorld();
  const [first, second] = [await subscribe(), await subscribe()];
  first.send(control("A"));
  const attached = await first.next("attached");
  expect(attached).toEqual({
    type: "attached",
    id: "s",
    clientId: expect.stringMatching(/^portal-[\w-]{12}$/),
    role: "controller",
  });
  second.send(control("B"));
  expect(await second.next("refused")).toMatchObject({ id: "s", error: { code: "conflict" } });
  second.send({ ...control("B"), takeOver: true });
  expect((await second.next("attached")).role).toBe("controller");
  expect(await clients()).toEqual(["A observer", "B controller"]);
  second.send(observe("B"));
  const released = await second.next("attached");
  expect(released.role).toBe("observer");
  first.send(control("A"));
  expect(await first.next("attached")).toEqual(attached);
  expect((await clients()).toSorted()).toEqual(["A controller", "B observer"]);
});

it("Control needs the right to control, and attaching needs a subscription", async () => {
  const { subscribe, clients, world } = await presenceWorld();
  const guest = await subscribe({});
  expect((await guest.next("ended")).error.code).toBe("not_found");
  guest.send(observe("Guest"));
  expect(await guest.next("refused")).toMatchObject({ id: "s", error: { code: "not_found" } });
  const local = { id: "local", rights: ["prompt"] } as const;
  const own = await world.sessions.open({ principal: local });
  guest.send({ type: "subscribe", id: "own", sessionId: own.sessionId });
  await guest.next("live");
  guest.send({ ...control("Guest"), id: "own" });
  expect((await guest.next("refused")).error.code).toBe("access_denied");
  guest.send({ ...observe("Guest"), id: "own" });
  expect((await guest.next("attached")).role).toBe("observer");
  expect(await clients()).toEqual([]);
});

it("A client is detached with its subscription, by a detach, and some seconds after its connection is lost", async () => {
  const { subscribe, clients, waitForClients, clock } = await presenceWorld();
  const [first, second, third] = [await subscribe(), await subscribe(), await subscribe()];
  for (const [client, name] of [
    [first, "A"],
    [second, "B"],
    [third, "C"],
  ] as const) {
    client.send(observe(name));
    await client.next("attached");
  }
  first.send({ type: "unsubscribe", id: "s" });
  second.send({ type: "detach", id: "s" });
  await waitForClients("C observer");
  third.socket.terminate();
  const start = clock.now();
  await waitUntil(async () => {
    clock.advance(100);
    return (await clients()).length === 0;
  });
  expect(clock.now() - start).toBeGreaterThanOrEqual(5000);
});

it("A client which reconnects keeps its id and its control, also if its lost connection was not noticed", async () => {
  const { subscribe, clients, clock } = await presenceWorld();
  const first = await subscribe();
  first.send(control("Tab"));
  const { clientId } = await first.next("attached");
  const half = await subscribe();
  half.send({ ...control("Tab"), clientId });
  expect(await half.next("attached")).toMatchObject({ clientId, role: "controller" });
  first.socket.terminate();
  half.socket.terminate();
  const back = await subscribe();
  await back.next("live");
  back.send(control("Tab"));
  expect(await back.next("attached")).toMatchObject({ role: "controller" });
  clock.advance(60_000);
  expect(await clients()).toEqual(["Tab controller"]);
  const other = await subscribe();
  other.send({ ...observe("Other"), clientId: "portal-of-somebody" });
  expect((await other.next("attached")).clientId).not.toBe("portal-of-somebody");
});

it("A connected client sends heartbeats to the session", async () => {
  const { subscribe, world, clock } = await presenceWorld();
  const client = await subscribe();
  client.send(observe("Tab"));
  const { clientId } = await client.next("attached");
  clock.advance(600_000);
  expect(await world.waitForEvent("client.heartbeat")).toEqual({
    type: "client.heartbeat",
    clientId,
  });
  client.send({ type: "detach", id: "s" });
  await world.waitForEvent("client.detached");
  clock.advance(1_200_000);
  expect(await world.listEvents("client.heartbeat")).toHaveLength(1);
});
