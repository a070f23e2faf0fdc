import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSigningKeys, type SigningKeys } from "../../../src/bridge/audit/signing-keys.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import type { ToolCallOpened, ToolCallReceived } from "../../../src/domain/events/tool-events.ts";
import type { ApprovalDecision } from "../../../src/domain/policy/approval-decision.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import { isReceipt } from "../../../src/domain/events/receipt.ts";
import type { Store } from "../../../src/store/store.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import {
  WRITE_CALL,
  neverResolves,
  createWritingAgent,
} from "../../support/session/writing-agent.ts";

async function newKeys(): Promise<SigningKeys> {
  const folder = await mkdtemp(join(tmpdir(), "spanline-doubted-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return openSigningKeys(folder, 1);
}

/** The same store with a modified log. */
function changedLog(store: Store, change: (log: readonly Envelope[]) => Envelope[]): Store {
  const page: Store["readPage"] = async (...args) => change(await store.readPage(...args));
  return new Proxy(store, {
    get: (target, name): unknown => (name === "readPage" ? page : Reflect.get(target, name)),
  });
}

/** An approved call which waits to start. */
async function allowedAndWaiting(keys: SigningKeys) {
  const provider = createScriptedProvider([
    wants({ id: "c0", name: "wait" }, WRITE_CALL),
    says("Well."),
  ]);
  const { agent, ran, write } = createWritingAgent("ask", { provider, caps: { parallelTools: 1 } });
  const wait = createTool({ name: "wait" }, () => neverResolves());
  const rules = createPolicy([
    ["wait", "allow"],
    ["write", "ask"],
  ]);
  const world = await openWorld(agent({ tools: [wait, write], policy: rules }), { keys });
  await world.prompt("Go.");
  const { approvalId } = await world.waitForEvent("approval.requested");
  await world.decideApproval(approvalId, "allow");
  return { world, ran };
}

/** Records the runs of the tool which was running when the bridge was killed. */
async function settle(world: SessionWorld, nth: number): Promise<void> {
  const { approvalId, question } = await world.waitForEvent("approval.requested", nth);
  expect(question).toBe("outcome");
  await world.decideApproval(approvalId, "failed");
}

/** Calls the tool in successive turns, and decides the first request of each. */
async function allowedForGood(keys: SigningKeys, turns: number) {
  const script = Array.from({ length: turns }, () => [wants(WRITE_CALL), says("Well.")]).flat();
  const { agent, ran } = createWritingAgent("ask", { provider: createScriptedProvider(script) });
  const world = await openWorld(agent(), { keys });
  await world.prompt("Write.");
  await answerNth(world, 1, "allow-always");
  await world.waitForEvent("turn.finished");
  return { world, ran };
}

async function answerNth(
  world: SessionWorld,
  nth: number,
  decision: ApprovalDecision,
): Promise<void> {
  const { approvalId } = await world.waitForEvent("approval.requested", nth);
  expect(await world.decideApproval(approvalId, decision)).toMatchObject({ status: "accepted" });
}

const first = (log: readonly Envelope[], type: SessionEvent["type"]) =>
  log.find(({ event }) => event.type === type);

describe("A log with receipts of another user", () => {
  it("Approvals in a foreign log are invalid, people are asked again, and the log records this", async () => {
    const { world: theirs, ran } = await allowedAndWaiting(await newKeys());
    const receipt = (await theirs.readLog()).find(({ event }) => isReceipt(event));
    const world = await theirs.restart(undefined, { keys: await newKeys() });
    await settle(world, 2);
    const again = await world.waitForEvent("approval.requested", 3);
    expect(again).toMatchObject({ question: "run", action: "write", input: WRITE_CALL.input });
    expect(await world.listEvents("approvals.invalidated")).toMatchObject([{ seq: receipt?.seq }]);
    expect(ran).toEqual([]);
    await world.decideApproval(again.approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("Open requests of a foreign log are asked again, since their content may be forged", async () => {
    const { agent, ran } = createWritingAgent("ask");
    const theirs = await openWorld(agent(), { keys: await newKeys() });
    await theirs.prompt("Write.");
    const { approvalId } = await theirs.waitForEvent("approval.requested");
    const world = await theirs.restart(undefined, { keys: await newKeys() });
    expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
    await answerNth(world, 2, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("Grants of a foreign log are invalid, and new grants survive restarts", async () => {
    const { world: theirs, ran } = await allowedForGood(await newKeys(), 4);
    const world = await theirs.restart(undefined, { keys: await newKeys() });
    await world.prompt("Write.");
    await answerNth(world, 2, "allow-always");
    await world.waitForEvent("turn.finished", 2);
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished", 3);
    const next = await world.restart();
    await next.prompt("Write.");
    await next.waitForEvent("turn.finished", 4);
    expect(ran).toHaveLength(4);
    expect(await next.listEvents("approval.requested")).toHaveLength(2);
    expect(await next.listEvents("approvals.invalidated")).toHaveLength(1);
  });

  it("A foreign log gets the local agent definition, even if its digest is the same", async () => {
    const keys = await newKeys();
    const { agent, ran } = createWritingAgent("ask");
    const mine = agent();
    const allowing = { ...agent({ policy: createPolicy([["*", "allow"]]) }), digest: mine.digest };
    const theirs = await openWorld(allowing, { keys: await newKeys() });
    const world = await theirs.restart(mine, { keys });
    await world.prompt("Write.");
    await world.waitForEvent("approval.requested");
    expect(ran).toEqual([]);
    expect(await world.listEvents("agent.configured")).toHaveLength(2);
  });
});

describe("A log of this user", () => {
  it("An approved call continues after a restart, without another request", async () => {
    const { world: killed, ran } = await allowedAndWaiting(await newKeys());
    const world = await killed.restart();
    await settle(world, 2);
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("approval.requested")).toHaveLength(2);
    expect(await world.listEvents("approvals.invalidated")).toEqual([]);
  });

  it("Removing a revocation receipt from the log does not restore the grant", async () => {
    const { world: before, ran } = await allowedForGood(await newKeys(), 3);
    const { grantId } = await before.waitForEvent("grant.added");
    await before.send({ type: "revoke-grant", grantId });
    await before.prompt("Write.");
    await answerNth(before, 2, "allow");
    await before.waitForEvent("turn.finished", 2);
    const store = changedLog(before.store, (log) =>
      log.filter(({ event }) => event.type !== "grant.revoked"),
    );
    const world = await before.restart(undefined, { store });
    await world.prompt("Write.");
    await world.waitForEvent("approval.requested", 3);
    expect(ran).toHaveLength(2);
    const { seq } = first(await before.readLog(), "grant.revoked") ?? {};
    expect(await world.listEvents("approvals.invalidated")).toMatchObject([
      {
        seq: (await world.readLog()).find((one) => one.seq > Number(seq) && isReceipt(one.event))
          ?.seq,
      },
    ]);
  });

  const other = { path: "other.md" };
  const replaceInput = (event: SessionEvent): SessionEvent => {
    if (event.type === "tool_call.received" && event.toolCall.name === "write") {
      const { inputError: _, ...call } = event.toolCall;
      return { ...event, toolCall: { ...call, input: other } };
    }
    return event.type === "approval.requested" ? { ...event, input: other } : event;
  };
  it.each<[string, (event: SessionEvent) => SessionEvent]>([
    [
      "in the approval",
      (event) => (event.type === "approval.resolved" ? { ...event, input: other } : event),
    ],
    ["in the request", replaceInput],
  ])("A call with arguments changed %s does not run", async (_, change) => {
    const { world: killed, ran } = await allowedAndWaiting(await newKeys());
    const store = changedLog(killed.store, (log) =>
      log.map((envelope) => ({ ...envelope, event: change(envelope.event) })),
    );
    const world = await killed.restart(undefined, { store });
    await settle(world, 2);
    await world.waitForEvent("approval.requested", 3);
    expect(ran).toEqual([]);
  });

  /** The log with another tool name in both events of the call. */
  const renamed = (event: SessionEvent): SessionEvent => {
    if (event.type === "tool_call.opened" && event.name === "write")
      return { ...event, name: "erase" };
    return event.type === "tool_call.received" && event.toolCall.name === "write"
      ? { ...event, toolCall: { ...event.toolCall, name: "erase" } }
      : event;
  };

  /** An agent with a second tool of the same arguments, and an open approval request for the first. */
  async function requestedWrite(keys: SigningKeys | undefined) {
    const ran: string[] = [];
    const tools = ["write", "erase"].map((name) =>
      createTool({ name }, () => {
        ran.push(name);
        return name;
      }),
    );
    const call = { id: "c1", name: "write", input: { text: "tea" } };
    const provider = createScriptedProvider([wants(call), says("Well.")]);
    const agent = createAgent({ provider, tools, policy: createPolicy([["*", "ask"]]) });
    const world = await openWorld(agent, keys === undefined ? {} : { keys });
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const store = changedLog(world.store, (log) =>
      log.map((envelope) => ({ ...envelope, event: renamed(envelope.event) })),
    );
    return { killed: world, store, ran, approvalId };
  }

  it("A tool whose name was changed beside an open approval request does not run by that approval [W-09]", async () => {
    const { killed, store, ran, approvalId } = await requestedWrite(await newKeys());
    const receipt = first(await killed.readLog(), "policy.decided");
    const world = await killed.restart(undefined, { store });
    expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
    const again = await world.waitForEvent("approval.requested", 2);
    expect(again).toMatchObject({ action: "erase", decision: { context: { tool: "erase" } } });
    expect(await world.listEvents("approvals.invalidated")).toMatchObject([{ seq: receipt?.seq }]);
    expect(ran).toEqual([]);
  });

  it("An approval of one tool does not start another, also in a log without signatures [W-09]", async () => {
    const { killed, store, ran, approvalId } = await requestedWrite(undefined);
    const world = await killed.restart(undefined, { store });
    await world.decideApproval(approvalId, "allow");
    const again = await world.waitForEvent("approval.requested", 2);
    expect(again).toMatchObject({ action: "erase", decision: { context: { tool: "erase" } } });
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      decision: { context: { tool: "erase" } },
    });
    expect(ran).toEqual([]);
  });

  it.each<[string, (log: readonly Envelope[]) => SessionEvent]>([
    [
      "was received again with another tool",
      (log) => {
        const received = first(log, "tool_call.received")?.event as ToolCallReceived;
        return { ...received, toolCall: { ...received.toolCall, name: "erase" } };
      },
    ],
    [
      "was opened again",
      (log) => ({ ...(first(log, "tool_call.opened")?.event as ToolCallOpened), name: "erase" }),
    ],
  ])(
    "A call that %s in place of a later event invalidates the approvals [W-09]",
    async (_, create) => {
      const { killed, ran, approvalId } = await requestedWrite(await newKeys());
      await killed.send({ type: "set-title", title: "Tea" });
      const store = changedLog(killed.store, (log) =>
        log.map((envelope) =>
          envelope.event.type === "session.title_changed"
            ? { ...envelope, event: create(log) }
            : envelope,
        ),
      );
      const { seq } = first(await killed.readLog(), "session.title_changed") ?? {};
      const world = await killed.restart(undefined, { store });
      expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
      expect(await world.listEvents("approvals.invalidated")).toMatchObject([{ seq }]);
      expect(ran).toEqual([]);
    },
  );
});
