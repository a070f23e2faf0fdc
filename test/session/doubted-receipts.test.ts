import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSigningKeys, type SigningKeys } from "../../src/bridge/signing-keys.ts";
import type { AgentEvent, Decision } from "../../src/domain/agent-event.ts";
import type { Envelope } from "../../src/domain/envelope.ts";
import { isReceipt } from "../../src/domain/receipt.ts";
import type { Store } from "../../src/store/store.ts";
import { policyOf } from "../support/policy.ts";
import { says, scriptedProvider, wants } from "../support/scripted-provider.ts";
import { tool, worldOf, type World } from "../support/session-world.ts";
import { CALL, never, writing } from "../support/writing-agent.ts";

async function newKeys(): Promise<SigningKeys> {
  const folder = await mkdtemp(join(tmpdir(), "spanline-doubted-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return openSigningKeys(folder, 1);
}

/** The same store, as somebody changed its log. */
function changedLog(store: Store, change: (log: readonly Envelope[]) => Envelope[]): Store {
  const page: Store["page"] = async (...given) => change(await store.page(...given));
  return new Proxy(store, {
    get: (target, name): unknown => (name === "page" ? page : Reflect.get(target, name)),
  });
}

/** A call that somebody allowed, and that waits for its place. */
async function allowedAndWaiting(keys: SigningKeys) {
  const provider = scriptedProvider([wants({ id: "c0", name: "wait" }, CALL), says("Well.")]);
  const { agent, ran, write } = writing("ask", { provider, caps: { parallelTools: 1 } });
  const wait = tool({ name: "wait" }, () => never());
  const rules = policyOf([
    ["wait", "allow"],
    ["write", "ask"],
  ]);
  const world = await worldOf(agent({ tools: [wait, write], policy: rules }), { keys });
  await world.prompt("Go.");
  const { approvalId } = await world.event("approval.requested");
  await world.answer(approvalId, "allow");
  return { world, ran };
}

/** What the tool did that was running when the bridge was killed. */
async function settle(world: World, nth: number): Promise<void> {
  const { approvalId, question } = await world.event("approval.requested", nth);
  expect(question).toBe("outcome");
  await world.answer(approvalId, "failed");
}

/** Calls the tool in one turn after another, and answers the first question of each. */
async function allowedForGood(keys: SigningKeys, turns: number) {
  const script = Array.from({ length: turns }, () => [wants(CALL), says("Well.")]).flat();
  const { agent, ran } = writing("ask", { provider: scriptedProvider(script) });
  const world = await worldOf(agent(), { keys });
  await world.prompt("Write.");
  await answerNth(world, 1, "allow-always");
  await world.event("turn.finished");
  return { world, ran };
}

async function answerNth(world: World, nth: number, decision: Decision): Promise<void> {
  const { approvalId } = await world.event("approval.requested", nth);
  expect(await world.answer(approvalId, decision)).toMatchObject({ status: "accepted" });
}

const first = (log: readonly Envelope[], type: AgentEvent["type"]) =>
  log.find(({ event }) => event.type === type);

describe("a log whose receipts are not this user's", () => {
  it("lets nothing run that was allowed in it: people are asked again, and the log says so", async () => {
    const { world: theirs, ran } = await allowedAndWaiting(await newKeys());
    const receipt = (await theirs.log()).find(({ event }) => isReceipt(event));
    const world = await theirs.restart(undefined, { keys: await newKeys() });
    await settle(world, 2);
    const again = await world.event("approval.requested", 3);
    expect(again).toMatchObject({ question: "run", action: "write", input: CALL.input });
    expect(await world.events("approvals.doubted")).toMatchObject([{ seq: receipt?.seq }]);
    expect(ran).toEqual([]);
    await world.answer(again.approvalId, "allow");
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("asks its open questions again, since they may show something else than would run", async () => {
    const { agent, ran } = writing("ask");
    const theirs = await worldOf(agent(), { keys: await newKeys() });
    await theirs.prompt("Write.");
    const { approvalId } = await theirs.event("approval.requested");
    const world = await theirs.restart(undefined, { keys: await newKeys() });
    expect(await world.answer(approvalId, "allow")).toMatchObject({ status: "refused" });
    await answerNth(world, 2, "allow");
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("has no grants; those that are given from now on hold, through restarts", async () => {
    const { world: theirs, ran } = await allowedForGood(await newKeys(), 4);
    const world = await theirs.restart(undefined, { keys: await newKeys() });
    await world.prompt("Write.");
    await answerNth(world, 2, "allow-always");
    await world.event("turn.finished", 2);
    await world.prompt("Write.");
    await world.event("turn.finished", 3);
    const next = await world.restart();
    await next.prompt("Write.");
    await next.event("turn.finished", 4);
    expect(ran).toHaveLength(4);
    expect(await next.events("approval.requested")).toHaveLength(2);
    expect(await next.events("approvals.doubted")).toHaveLength(1);
  });

  it("binds the agent that is here, also where it has another definition under the same digest", async () => {
    const keys = await newKeys();
    const { agent, ran } = writing("ask");
    const mine = agent();
    const allowing = { ...agent({ policy: policyOf([["*", "allow"]]) }), digest: mine.digest };
    const theirs = await worldOf(allowing, { keys: await newKeys() });
    const world = await theirs.restart(mine, { keys });
    await world.prompt("Write.");
    await world.event("approval.requested");
    expect(ran).toEqual([]);
    expect(await world.events("agent.bound")).toHaveLength(2);
  });
});

describe("a log of this user's own", () => {
  it("goes on with what was allowed, and nobody is asked again", async () => {
    const { world: killed, ran } = await allowedAndWaiting(await newKeys());
    const world = await killed.restart();
    await settle(world, 2);
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.events("approval.requested")).toHaveLength(2);
    expect(await world.events("approvals.doubted")).toEqual([]);
  });

  it("of which a receipt was taken out gives no grant back that it took", async () => {
    const { world: before, ran } = await allowedForGood(await newKeys(), 3);
    const { grantId } = await before.event("grant.given");
    await before.send({ type: "revoke", grantId });
    await before.prompt("Write.");
    await answerNth(before, 2, "allow");
    await before.event("turn.finished", 2);
    const store = changedLog(before.store, (log) =>
      log.filter(({ event }) => event.type !== "grant.revoked"),
    );
    const world = await before.restart(undefined, { store });
    await world.prompt("Write.");
    await world.event("approval.requested", 3);
    expect(ran).toHaveLength(2);
    const { seq } = first(await before.log(), "grant.revoked") ?? {};
    expect(await world.events("approvals.doubted")).toMatchObject([
      {
        seq: (await world.log()).find((one) => one.seq > Number(seq) && isReceipt(one.event))?.seq,
      },
    ]);
  });

  const other = { path: "other.md" };
  const shown = (event: AgentEvent): AgentEvent => {
    if (event.type === "tool.called" && event.call.name === "write") {
      const { inputError: _, ...call } = event.call;
      return { ...event, call: { ...call, input: other } };
    }
    return event.type === "approval.requested" ? { ...event, input: other } : event;
  };
  it.each<[string, (event: AgentEvent) => AgentEvent]>([
    [
      "in a yes",
      (event) => (event.type === "approval.resolved" ? { ...event, input: other } : event),
    ],
    ["beside it", shown],
  ])("lets nothing run with arguments that were changed %s", async (_, change) => {
    const { world: killed, ran } = await allowedAndWaiting(await newKeys());
    const store = changedLog(killed.store, (log) =>
      log.map((envelope) => ({ ...envelope, event: change(envelope.event) })),
    );
    const world = await killed.restart(undefined, { store });
    await settle(world, 2);
    await world.event("approval.requested", 3);
    expect(ran).toEqual([]);
  });
});
