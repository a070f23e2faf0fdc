import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createAskUserTool } from "../../../src/tools/ask-user-tool.ts";
import { eventually } from "../../support/eventually.ts";
import {
  createScriptedProvider,
  hangs,
  says,
  wants,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  ME,
  openWorld,
  readUntil,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { createBoss, delegates } from "../../support/session/worker-world.ts";

const ASKING = { approvals: { deny: [], ask: ["look"], allow: [], default: "ask" } } as const;

/** An agent which needs an approval for its only tool. */
function createAskingHelper(runs: string[], name = "helper"): Agent {
  const look = createTool({ name: "look" }, (_, { sessionId }) => {
    runs.push(sessionId);
    return "seen";
  });
  const call = wants({ id: "l", name: "look" });
  const provider = createScriptedProvider([call, says("One."), call, says("Two.")]);
  return createAgent({ name, provider, tools: [look], ...ASKING });
}

/** An agent whose background worker makes a request, while the agent itself has ended its turn. */
function createMiddle(): Agent {
  const script = [delegates({ task: "Look", background: true }), says("Started."), says("Again.")];
  return createBoss(script, { name: "middle" });
}

const TASK = { type: "delegate", task: "Go", isBackground: true, isRetriggerable: true } as const;

function openTree(runs: string[]): Promise<SessionWorld> {
  const boss = createBoss([says("Ready.")], { workers: { agents: [{ name: "middle" }] } });
  return openWorld(boss, { others: [createMiddle(), createAskingHelper(runs)] });
}

async function readOpenIds({ sessions }: Pick<SessionWorld, "sessions">, sessionId: string) {
  const { openApprovals } = await sessions.status(sessionId);
  return openApprovals.map(({ request }) => request.approvalId);
}

/** The session of the only worker of a session. */
async function readChildId(
  { store }: Pick<SessionWorld, "store">,
  parent: string,
): Promise<string> {
  return eventually(async () => {
    const [child] = (await store.listSessions({ limit: 2, parent })).sessions;
    if (child === undefined) throw new Error("The session has no worker");
    return child.sessionId;
  });
}

describe("Requests of a retriggerable worker", () => {
  it("A request of a later cycle is answered at the root", async () => {
    const runs: string[] = [];
    const boss = createBoss([says("Ready.")]);
    const world = await openWorld(boss, { others: [createAskingHelper(runs)] });
    await world.send(TASK);
    const first = await world.waitForEvent("approval.requested");
    await world.decideApproval(first.approvalId, "allow");
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "trigger-worker", workerId, payload: "again" });
    const second = await world.waitForEvent("approval.requested", 2);
    expect(second).toMatchObject({ worker: { workerId, through: workerId } });
    await world.decideApproval(second.approvalId, "allow");
    await world.waitForEvent("worker.waiting_for_input", 2);
    expect(runs).toHaveLength(2);
    expect(await readOpenIds(world, world.sessionId)).toEqual([]);
  });

  it("A request of a later cycle survives a restart, and is answered once at the root", async () => {
    const runs: string[] = [];
    const boss = createBoss([says("Ready.")]);
    const world = await openWorld(boss, { others: [createAskingHelper(runs)] });
    await world.send(TASK);
    const first = await world.waitForEvent("approval.requested");
    await world.decideApproval(first.approvalId, "deny");
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "trigger-worker", workerId, payload: "again" });
    const { approvalId } = await world.waitForEvent("approval.requested", 2);
    const next = await world.restart();
    expect(await next.decideApproval(approvalId, "allow")).toEqual({ status: "accepted" });
    await next.waitForEvent("worker.waiting_for_input", 2);
    expect(runs).toHaveLength(1);
    expect(await next.listEvents("approval.requested")).toHaveLength(2);
    expect(await next.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
  });
});

describe("Questions of a retriggerable worker", () => {
  it("A question of a later cycle survives a restart, and the answer from the root reaches the worker", async () => {
    const asks = wants({ id: "q", name: "ask_user", input: { question: "Which file?" } });
    const provider = createScriptedProvider([says("One."), asks, says("Thank you.")]);
    const tools = [createAskUserTool()];
    const helper = createAgent({ name: "helper", provider, tools, askUser: { waitMs: 600_000 } });
    const world = await openWorld(createBoss([says("Ready.")]), { others: [helper] });
    await world.send(TASK);
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "trigger-worker", workerId, payload: "again" });
    const { approvalId, question } = await world.waitForEvent("approval.requested");
    expect(question).toBe("question");
    const next = await world.restart();
    const answer = { type: "decide-approval", approvalId, answer: "b.ts" } as const;
    expect(await next.send(answer)).toEqual({ status: "accepted" });
    await next.waitForEvent("worker.waiting_for_input", 2);
    expect(JSON.stringify(provider.invocations.at(-1)?.input)).toContain("b.ts");
    expect(await next.listEvents("approval.resolved")).toMatchObject([{ answer: "b.ts" }]);
  });
});

describe("Requests below a waiting worker", () => {
  it("A request of a waiting worker's own worker is answered at the root", async () => {
    const runs: string[] = [];
    const world = await openTree(runs);
    await world.send(TASK);
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    const { approvalId, worker } = await world.waitForEvent("approval.requested");
    expect(worker).toMatchObject({ through: workerId });
    expect(await readOpenIds(world, world.sessionId)).toEqual([approvalId]);
    expect(await world.decideApproval(approvalId, "allow")).toEqual({ status: "accepted" });
    await world.waitForEvent("approval.resolved");
    const leaf = await readChildId(world, await readChildId(world, world.sessionId));
    await eventually(() => expect(runs).toEqual([leaf]));
    expect(await world.listEvents("approval.requested")).toHaveLength(1);
  });

  it("A request stays open at the root over the end of a cycle, a trigger and a restart", async () => {
    const runs: string[] = [];
    const world = await openTree(runs);
    await world.send(TASK);
    const { approvalId } = await world.waitForEvent("approval.requested");
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "trigger-worker", workerId, payload: "again" });
    await world.waitForEvent("worker.waiting_for_input", 2);
    expect(await readOpenIds(world, world.sessionId)).toEqual([approvalId]);
    const next = await world.restart();
    expect(await readOpenIds(next, next.sessionId)).toEqual([approvalId]);
    expect(await next.decideApproval(approvalId, "allow")).toEqual({ status: "accepted" });
    expect(await next.waitForEvent("approval.resolved")).toMatchObject({ decision: "allow" });
    expect(await next.listEvents("approval.requested")).toHaveLength(1);
    await eventually(() => expect(runs).toHaveLength(1));
  });

  it("A decision in the worker's own session closes the request at the root", async () => {
    const runs: string[] = [];
    const world = await openTree(runs);
    await world.send(TASK);
    const { approvalId } = await world.waitForEvent("approval.requested");
    const leaf = await readChildId(world, await readChildId(world, world.sessionId));
    const command = { type: "decide-approval", approvalId, decision: "deny" } as const;
    await world.sessions.command(leaf, command, { principal: ME });
    expect(await world.waitForEvent("approval.resolved")).toMatchObject({ decision: "deny" });
    expect(await readOpenIds(world, world.sessionId)).toEqual([]);
  });

  it("A closed worker withdraws the requests below it at the root", async () => {
    const world = await openTree([]);
    await world.send(TASK);
    await world.waitForEvent("approval.requested");
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "close-worker", workerId });
    await world.waitForEvent("worker.closed");
    expect(await readOpenIds(world, world.sessionId)).toEqual([]);
    const middle = await readChildId(world, world.sessionId);
    const leaf = await readChildId(world, middle);
    for (const id of [middle, leaf]) {
      expect(await readOpenIds(world, id)).toEqual([]);
      expect(await world.sessions.find(id)).toMatchObject({ state: "idle" });
    }
  });
});

describe("Requests below a waiting worker, while the root session is not in memory", () => {
  /** The sessions of a process. In a process which is not asking, the lowest worker makes no request. */
  function start(store: Store, isAsking: boolean): RunningSessions {
    const look = createTool({ name: "look" }, () => "seen");
    const call = wants({ id: "l", name: "look" });
    const provider = createScriptedProvider(isAsking ? [call, says("Seen.")] : [hangs()]);
    const parts = { tools: [look], onLost: "resend", ...ASKING } as const;
    const helper = createAgent({ name: "helper", provider, ...parts });
    const boss = createBoss([says("Ready.")], { workers: { agents: [{ name: "middle" }] } });
    const agents = [boss, createMiddle(), helper];
    const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
    onTestFinished(() => sessions.close());
    return sessions;
  }

  async function readUntilWaiting(sessions: RunningSessions, sessionId: string): Promise<void> {
    await readUntil(sessions, sessionId, ({ event }) => event.type === "worker.waiting_for_input");
  }

  it("A request is reported to the root as soon as the root is used again", async () => {
    const store = createMemoryStore();
    const first = start(store, false);
    const { sessionId } = await first.open({ principal: ME });
    await first.command(sessionId, TASK, { principal: ME });
    await readUntilWaiting(first, sessionId);
    await first.close();
    const next = start(store, true);
    await next.resumeInterrupted();
    const middle = await readChildId({ store }, sessionId);
    await readUntil(next, middle, ({ event }) => event.type === "approval.requested");
    const log = await store.read(sessionId, 0, 100);
    expect(log.filter(({ event }) => event.type === "approval.requested")).toEqual([]);
    await next.status(sessionId);
    await readUntil(next, sessionId, ({ event }) => event.type === "approval.requested");
    expect(await readOpenIds({ sessions: next }, sessionId)).toEqual(
      await readOpenIds({ sessions: next }, middle),
    );
  });

  it("A request which was decided meanwhile is closed at the root as soon as the root is used again", async () => {
    const store = createMemoryStore();
    const first = start(store, true);
    const { sessionId } = await first.open({ principal: ME });
    await first.command(sessionId, TASK, { principal: ME });
    await readUntilWaiting(first, sessionId);
    const log = await readUntil(
      first,
      sessionId,
      ({ event }) => event.type === "approval.requested",
    );
    const request = log.at(-1)?.event;
    const approvalId = request?.type === "approval.requested" ? request.approvalId : "";
    await first.close();
    const next = start(store, true);
    const middle = await readChildId({ store }, sessionId);
    const leaf = await readChildId({ store }, middle);
    const denial = { type: "decide-approval", approvalId, decision: "deny" } as const;
    await next.command(leaf, denial, { principal: ME });
    await next.status(middle);
    await readUntil(next, middle, ({ event }) => event.type === "approval.resolved");
    await next.status(sessionId);
    await readUntil(next, sessionId, ({ event }) => event.type === "approval.resolved");
    expect(await readOpenIds({ sessions: next }, sessionId)).toEqual([]);
  });
});
