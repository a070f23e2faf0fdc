import { describe, expect, it } from "vitest";
import type { Reminder, ReminderPropagation } from "../../../src/domain/reminder.ts";
import { encodePendingInjections } from "../../../src/wire/acp/decode/steering-messages.ts";
import { eventually } from "../../support/eventually.ts";
import {
  createScriptedProvider,
  hangs,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld, type SessionWorld } from "../../support/session/session-world.ts";
import { createBoss, delegates } from "../../support/session/worker-world.ts";

const PROPAGATIONS: readonly ReminderPropagation[] = ["all", "session", "none"];

function createReminder(body: string, fields: Partial<Reminder> = {}): Reminder {
  return {
    body,
    tags: [],
    mode: "finish_step",
    roleHint: "system",
    authority: "contract",
    source: "bridge",
    propagate: "all",
    ...fields,
  };
}

async function remind(world: SessionWorld, body: string, fields: Partial<Reminder> = {}) {
  const reply = await world.send({ type: "remind", reminder: createReminder(body, fields) });
  expect(reply.status).toBe("accepted");
}

/** The session of the only worker of a session. */
async function readChildId({ store }: SessionWorld, parent: string): Promise<string> {
  return eventually(async () => {
    const [child] = (await store.listSessions({ limit: 2, parent })).sessions;
    if (child === undefined) throw new Error("The session has no worker");
    return child.sessionId;
  });
}

async function listQueued({ store }: SessionWorld, sessionId: string): Promise<Reminder[]> {
  const log = await store.read(sessionId, 0, 1000);
  return log.flatMap(({ event }) => (event.type === "reminder.queued" ? [event.reminder] : []));
}

async function expectQueued(world: SessionWorld, sessionId: string, bodies: readonly string[]) {
  await eventually(async () =>
    expect((await listQueued(world, sessionId)).map(({ body }) => body)).toEqual(bodies),
  );
}

function createHelper(script: readonly ProviderScript[]) {
  return createAgent({ name: "helper", provider: createScriptedProvider(script) });
}

const TASK = { type: "delegate", task: "Go", isBackground: true, isRetriggerable: true } as const;

describe("Reminders for workers", () => {
  it("A worker inherits the reminders of its parent by their propagation, and passes on those for all levels [R-045]", async () => {
    const provider = createScriptedProvider([hangs()]);
    const leaf = createAgent({ name: "helper", provider });
    const middle = createBoss([delegates({ task: "Deeper" })], { name: "middle" });
    const boss = createBoss([delegates({ task: "Deep" })], {
      workers: { agents: [{ name: "middle" }] },
    });
    const world = await openWorld(boss, { others: [middle, leaf] });
    for (const propagate of PROPAGATIONS) await remind(world, `To ${propagate}`, { propagate });
    await world.prompt("Go");
    const middleId = await readChildId(world, world.sessionId);
    const leafId = await readChildId(world, middleId);
    await eventually(() => expect(provider.invocations).toHaveLength(1));
    const inherited = { source: "inherited", originatingAgentId: world.sessionId } as const;
    expect(await listQueued(world, middleId)).toEqual([
      createReminder("To all", inherited),
      createReminder("To session", { ...inherited, propagate: "none" }),
    ]);
    expect(await listQueued(world, leafId)).toEqual([createReminder("To all", inherited)]);
    const prompt = JSON.stringify(provider.invocations[0]?.input);
    expect(prompt).toContain("<system-reminder>\\nTo all\\n</system-reminder>");
  });

  it("A reminder reaches the workers which are open when it is accepted, once, also after a restart [R-045]", async () => {
    const helper = createHelper([says("One."), hangs()]);
    const world = await openWorld(createBoss([says("Ready.")]), { others: [helper] });
    await world.send(TASK);
    await world.waitForEvent("worker.waiting_for_input");
    await world.send({ ...TASK, task: "Other" });
    await world.waitForEvent("worker.spawned", 2);
    await remind(world, "Use tabs");
    const next = await world.restart();
    const children = (await world.listEvents("worker.spawned")).map(({ sessionId }) => sessionId);
    await next.sessions.status(next.sessionId);
    for (const childId of children) await expectQueued(next, childId, ["Use tabs"]);
    await remind(next, "Use spaces");
    for (const childId of children) await expectQueued(next, childId, ["Use tabs", "Use spaces"]);
    const last = await next.restart();
    await last.sessions.status(last.sessionId);
    await remind(last, "Answer in German");
    const all = ["Use tabs", "Use spaces", "Answer in German"];
    for (const childId of children) await expectQueued(last, childId, all);
  });

  it("A reminder which the agent has already received reaches the workers of the same turn with the rest of its lifetime", async () => {
    const boss = createBoss([
      says("Nothing."),
      delegates({ task: "Look" }),
      says("Done."),
      delegates({ task: "Look again" }),
      says("Done."),
    ]);
    const world = await openWorld(boss, { others: [createHelper([says("Seen.")])] });
    await world.prompt("Wait");
    await world.waitForEvent("turn.finished");
    await remind(world, "Short", { ttlTurns: 3 });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished", 2);
    const { sessionId: first } = await world.waitForEvent("worker.spawned");
    expect(await listQueued(world, first)).toMatchObject([{ body: "Short", ttlTurns: 3 }]);
    await world.prompt("Again");
    await world.waitForEvent("turn.finished", 3);
    const { sessionId: second } = await world.waitForEvent("worker.spawned", 2);
    expect(await listQueued(world, second)).toEqual([]);
  });

  it("Reminders without a receiver stay in their session: of the runtime, and for the audit only", async () => {
    const boss = createBoss([
      delegates({ task: "Look", background: true }),
      delegates({ task: "Look again" }),
      says("Done."),
    ]);
    const world = await openWorld(boss, { others: [createHelper([says("Seen.")])] });
    await remind(world, "For the audit", { mode: "audit_only" });
    await world.prompt("Go");
    await world.waitForEvent("worker.spawned", 2);
    await world.waitForEvent("turn.finished");
    await world.waitForEvent("reminder.queued", 2);
    for (const { sessionId } of await world.listEvents("worker.spawned"))
      expect(await listQueued(world, sessionId)).toEqual([]);
    expect(await world.listEvents("worker.reminded")).toEqual([]);
  });

  it("A newer reminder with the same key replaces the pending copy of the worker", async () => {
    const helper = createHelper([says("One.")]);
    const world = await openWorld(createBoss([says("Ready.")]), { others: [helper] });
    await world.send(TASK);
    const { sessionId: childId } = await world.waitForEvent("worker.spawned");
    await world.waitForEvent("worker.waiting_for_input");
    await remind(world, "Branch a", { dedupeKey: "branch" });
    await expectQueued(world, childId, ["Branch a"]);
    await remind(world, "Branch b", { dedupeKey: "branch" });
    await expectQueued(world, childId, ["Branch a", "Branch b"]);
    const { pendingInjections } = await world.sessions.status(childId);
    expect(encodePendingInjections(pendingInjections)).toMatchObject({
      injections: [{ body: "Branch b", source: "inherited", originatingAgentId: world.sessionId }],
    });
  });

  it("A worker keeps a bounded number of reminders for its session, and its session receives each", async () => {
    const helper = createHelper([wants({ id: "x", name: "missing" }), hangs()]);
    const world = await openWorld(createBoss([says("Ready.")]), { others: [helper] });
    await world.send(TASK);
    const { sessionId: childId } = await world.waitForEvent("worker.spawned");
    await readChildId(world, world.sessionId);
    const bodies = Array.from({ length: 40 }, (_, at) => `Reminder ${at}`);
    for (const [at, body] of bodies.entries()) {
      await remind(world, body);
      await expectQueued(world, childId, bodies.slice(0, at + 1));
    }
    const { workers } = await world.sessions.status(world.sessionId);
    expect(workers.map(({ reminders }) => reminders.length)).toEqual([32]);
  });
});
