import { describe, expect, it } from "vitest";
import { hangs, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld, type SessionWorld } from "../../support/session/session-world.ts";

const CANCEL = { type: "cancel", unlessWatched: true } as const;

async function running(): Promise<{ readonly world: SessionWorld; readonly turnId: string }> {
  const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }));
  await world.prompt("Go");
  const { turnId } = await world.waitForEvent("turn.started");
  // The last event without further input.
  await world.waitForEvent("text.delta");
  return { world, turnId };
}

/** Subscribes until aborted; resolves once the subscription has begun. */
async function reader(world: SessionWorld): Promise<AbortController> {
  const controller = new AbortController();
  const batches = world.sessions.subscribe(world.sessionId, undefined, controller.signal);
  const iterator = batches[Symbol.asyncIterator]();
  await iterator.next();
  void iterator.next().catch(() => undefined);
  return controller;
}

describe("A cancel by a disconnecting client", () => {
  it("The turn ends if no other client follows it", async () => {
    const { world, turnId } = await running();
    const own = await reader(world);
    own.abort();
    expect(await world.send(CANCEL)).toEqual({ status: "accepted", turnId });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "cancelled" });
  });

  it("The turn continues while another client subscribes, and the reply shows it", async () => {
    const { world, turnId } = await running();
    const [own, other] = [await reader(world), await reader(world)];
    own.abort();
    const before = await world.readLog();
    expect(await world.send(CANCEL)).toEqual({ status: "accepted" });
    expect(await world.readLog()).toEqual(before);
    other.abort();
    expect(await world.send(CANCEL)).toEqual({ status: "accepted", turnId });
  });

  it("The turn continues while another client is attached; the sender's own attachment does not count", async () => {
    const { world, turnId } = await running();
    for (const clientId of ["me", "editor"]) {
      const attach = { type: "attach", clientId, mode: "observer", name: clientId } as const;
      await world.send(attach, { clientId });
    }
    expect(await world.send(CANCEL, { clientId: "me" })).toEqual({ status: "accepted" });
    await world.send(
      { type: "detach", clientId: "editor", reason: "left" },
      { clientId: "editor" },
    );
    expect(await world.send(CANCEL, { clientId: "me" })).toEqual({ status: "accepted", turnId });
  });

  it("Subscribers of other sessions and ended subscriptions do not count", async () => {
    const { world, turnId } = await running();
    const other = await world.sessions.open({ principal: { id: "me", rights: [] } });
    const elsewhere = new AbortController();
    const batches = world.sessions.subscribe(other.sessionId, undefined, elsewhere.signal);
    await batches[Symbol.asyncIterator]().next();
    for await (const _ of world.sessions.subscribe(world.sessionId, undefined, elsewhere.signal)) {
      break;
    }
    expect(await world.send(CANCEL)).toEqual({ status: "accepted", turnId });
    elsewhere.abort();
  });
});
