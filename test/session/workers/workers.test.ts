import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { createRuntimeTools } from "../../../src/tools/runtime/runtime-tools.ts";
import { eventually } from "../../support/eventually.ts";
import {
  breaks,
  createScriptedProvider,
  hangs,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  ME,
  openWorld,
  readUntil,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { createBoss, delegates, type BossOptions } from "../../support/session/worker-world.ts";

function createHelper(
  script: readonly ProviderScript[] = [says("Four files.")],
  parts: Partial<AgentParts> = {},
) {
  return createAgent({ name: "helper", provider: createScriptedProvider(script), ...parts });
}

interface Play {
  readonly boss: readonly ProviderScript[];
  readonly helper?: readonly ProviderScript[];
  readonly options?: BossOptions;
  readonly helperParts?: Partial<AgentParts>;
}

async function start({ boss, helper, options, helperParts }: Play): Promise<SessionWorld> {
  return openWorld(createBoss(boss, options), { others: [createHelper(helper, helperParts)] });
}

async function readSpawned(world: SessionWorld, nth = 1) {
  const spawned = await world.waitForEvent("worker.spawned", nth);
  return { workerId: spawned.workerId, childId: spawned.sessionId };
}

/** Waits until a session exists and its log has a matching event. */
async function waitIn(
  { sessions }: SessionWorld,
  sessionId: string,
  matches: (event: SessionEvent) => boolean,
): Promise<SessionEvent> {
  await eventually(async () => expect(await sessions.find(sessionId)).toBeDefined());
  const seen = await readUntil(sessions, sessionId, ({ event }) => matches(event));
  const last = seen.at(-1)?.event;
  if (last === undefined) throw new Error("The log is empty");
  return last;
}

function readResultText(finished: { readonly result: { readonly parts: readonly unknown[] } }) {
  return JSON.stringify(finished.result.parts);
}

describe("A worker", () => {
  it("A delegated task runs in a session of its own, and the tool call gets its last message", async () => {
    const world = await start({ boss: [delegates({ task: "Count the files" }), says("Four.")] });
    await world.prompt("How many files?");
    await world.waitForEvent("turn.finished");
    const [spawned] = await world.listEvents("worker.spawned");
    expect(spawned).toMatchObject({ agent: "helper", task: "Count the files", cycle: 1 });
    const [finished] = await world.listEvents("tool.finished");
    expect(finished).toMatchObject({
      ending: "succeeded",
      result: { parts: [{ type: "text", text: "Four files." }] },
    });
    expect(await world.sessions.find(spawned?.sessionId ?? "")).toMatchObject({
      agent: "helper",
      principal: "me",
      lineage: {
        parentSessionId: world.sessionId,
        workerId: spawned?.workerId,
        rootSessionId: world.sessionId,
        depth: 1,
      },
    });
  });

  it("The shortened text of a worker splits no surrogate pair, and names the session with the whole text", async () => {
    const world = await start({
      boss: [delegates({ task: "Count" }), says("Long.")],
      helper: [says(`${"x".repeat(31_999)}😀`)],
    });
    await world.prompt("Go");
    const { result } = await world.waitForEvent("worker.completed");
    const { childId } = await readSpawned(world);
    const note = `… (shortened; the session ${childId} has the whole text)`;
    expect(result.text).toBe(`${"x".repeat(31_999)}${note}`);
  });

  it("The text of a worker is not part of the parent's messages", async () => {
    const world = await start({
      boss: [delegates({ task: "Count" }), says("There are four.")],
      helper: [says("Secret of the worker")],
    });
    await world.prompt("How many files?");
    await world.waitForEvent("turn.finished");
    const texts = (await world.listEvents("text.finished")).map(({ text }) => text);
    expect(texts).toEqual(["Let me see.", "There are four."]);
  });

  it("The ids of a worker and of its session follow from the tool call", async () => {
    const world = await start({ boss: [delegates({ task: "Count" }), says("Four.")] });
    await world.prompt("Go");
    const { workerId, sessionId, toolCallId = "" } = await world.waitForEvent("worker.spawned");
    const key = toolCallId.slice("tool_".length);
    expect([workerId, sessionId]).toEqual([`worker_${key}`, `ses_${key}`]);
  });

  it("A background task gives the model the worker's id at once, and the result arrives as a reminder", async () => {
    const world = await start({
      boss: [delegates({ task: "Count", background: true }), says("Started."), says("Four.")],
    });
    await world.prompt("How many files?");
    await world.waitForEvent("turn.finished");
    const [finished] = await world.listEvents("tool.finished");
    const { workerId } = await world.waitForEvent("worker.spawned");
    expect(finished && readResultText(finished)).toContain(workerId);
    const { reminder } = await world.waitForEvent("reminder.queued");
    expect(reminder.body).toContain("Four files.");
    await world.prompt("And?");
    await world.waitForEvent("reminder.emitted");
    expect((await world.listEvents("reminder.emitted"))[0]?.reminder.tags).toEqual(["worker"]);
  });

  it("A retriggerable worker waits after each cycle and keeps its conversation [B-120] [B-121]", async () => {
    const world = await start({
      boss: [
        delegates({ task: "Count", retriggerable: true }),
        (signal, call) => {
          const id = /worker_\w+/.exec(JSON.stringify(call.input))?.[0] ?? "";
          const input = { worker_id: id, payload: { next: "folders" } };
          return wants({ id: "t1", name: "worker_trigger", input })(signal, call);
        },
        says("Done."),
      ],
      helper: [says("Four files."), says("Two folders.")],
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    const types = (await world.readLog())
      .map(({ event }) => event.type)
      .filter((type) => type.startsWith("worker."));
    expect(types).toEqual([
      "worker.spawned",
      "worker.waiting_for_input",
      "worker.progressed",
      "worker.spawned",
      "worker.waiting_for_input",
    ]);
    const { childId } = await readSpawned(world);
    const { sessions } = await world.store.listSessions({ limit: 9, parent: world.sessionId });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([childId]);
    const results = await world.listEvents("tool.finished");
    expect(results.map(readResultText).join()).toMatch(/Four files.*Two folders/);
  });

  it("The result of each cycle has the number of all artifacts of the worker, and its usage [ACP-129]", async () => {
    const artifact = { kind: "mermaid", spec: "pie" };
    const emits = (...ids: readonly string[]) =>
      wants(...ids.map((id) => ({ id, name: "emit_artifact", input: artifact })));
    const world = await start({
      boss: [
        delegates({ task: "Draw", background: true, retriggerable: true }),
        says("Ok."),
        hangs(),
      ],
      helper: [emits("a1", "a2"), says("Two."), emits("a3"), says("Three.")],
      helperParts: { tools: createRuntimeTools(["emit_artifact"]) },
    });
    await world.prompt("Go");
    const { workerId, result: first } = await world.waitForEvent("worker.waiting_for_input");
    await world.send({ type: "trigger-worker", workerId, payload: "One more" });
    const { result: second } = await world.waitForEvent("worker.waiting_for_input", 2);
    expect([first, second]).toMatchObject([
      { text: "Two.", artifactCount: 2, usage: { invocations: 2, toolCalls: 2 } },
      { text: "Three.", artifactCount: 3, usage: { invocations: 4, toolCalls: 3 } },
    ]);
  });

  it("A command triggers a waiting worker, and refuses a worker which runs or is unknown", async () => {
    const world = await start({
      boss: [delegates({ task: "Count", background: true, retriggerable: true }), says("Ok.")],
      helper: [says("One."), hangs()],
    });
    await world.prompt("Go");
    const { workerId } = await world.waitForEvent("worker.waiting_for_input");
    const trigger = { type: "trigger-worker", workerId, payload: "again" } as const;
    expect(await world.send(trigger)).toMatchObject({ workerId, workerStatus: "running" });
    expect(await world.send(trigger)).toMatchObject({ failure: { code: "conflict" } });
    expect(await world.send({ ...trigger, workerId: "worker_x" })).toMatchObject({
      failure: { code: "not_found" },
    });
  });

  it("A worker whose turn fails ends as failed, and the tool call reports why [B-123]", async () => {
    const world = await start({
      boss: [delegates({ task: "Count" }), says("It failed.")],
      helper: [breaks("service_failed")],
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.failed")).toMatchObject([
      { failure: { code: "service_failed" } },
    ]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "failed" }]);
  });

  it("A worker without any agent of this name is refused, and the turn continues", async () => {
    const world = await start({
      boss: [delegates({ task: "Count", agent: "nobody" }), says("Sorry.")],
      options: { workers: { agents: [{ name: "helper" }] } },
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.spawned")).toEqual([]);
    const [finished] = await world.listEvents("tool.finished");
    expect(finished?.ending).toBe("refused");
  });

  it("A definition with an unknown agent for workers is refused", async () => {
    const boss = createBoss([says("Hi")], { workers: { agents: [{ name: "nobody" }] } });
    await expect(openWorld(boss)).rejects.toMatchObject({
      code: "invalid_option",
      message: expect.stringContaining('Agent "nobody" does not exist for workers of agent "boss"'),
    });
  });
});

describe("The end of workers", () => {
  it("A cancelled turn cancels its worker and the worker's own workers, down the tree [B-125]", async () => {
    const middle = createBoss([delegates({ task: "Deeper" })], { name: "middle" });
    const boss = createBoss([delegates({ task: "Deep" })], {
      workers: { agents: [{ name: "middle" }] },
    });
    const world = await openWorld(boss, { others: [middle, createHelper([hangs()])] });
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    const deep = await waitIn(world, childId, ({ type }) => type === "worker.spawned");
    const leafId = deep.type === "worker.spawned" ? deep.sessionId : "";
    await waitIn(world, leafId, ({ type }) => type === "text.delta");
    await world.cancel();
    await world.waitForEvent("worker.closed");
    expect(await world.listEvents("worker.cancelled")).toMatchObject([{ reason: "turn" }]);
    for (const id of [childId, leafId]) {
      const end = await waitIn(world, id, ({ type }) => type === "turn.finished");
      expect(end).toMatchObject({ outcome: "cancelled" });
    }
  });

  it("A background worker continues after the turn which started it, and ends with close-worker", async () => {
    const world = await start({
      boss: [delegates({ task: "Wait", background: true }), says("Started.")],
      helper: [hangs()],
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    const { workerId, childId } = await readSpawned(world);
    await waitIn(world, childId, ({ type }) => type === "text.delta");
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "running" });
    expect(await world.send({ type: "close-worker", workerId })).toMatchObject({
      workerStatus: "running",
    });
    await world.waitForEvent("worker.closed");
    const end = await waitIn(world, childId, ({ type }) => type === "turn.finished");
    expect(end).toMatchObject({ outcome: "cancelled" });
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "idle" });
  });

  it("No event follows the terminal event of a worker but its internal close [B-127]", async () => {
    const world = await start({
      boss: [delegates({ task: "Wait", background: true }), says("Started.")],
      helper: [hangs()],
    });
    await world.prompt("Go");
    const { workerId } = await readSpawned(world);
    await world.send({ type: "close-worker", workerId });
    await world.waitForEvent("worker.closed");
    await world.send({ type: "close-worker", workerId });
    await world.send({ type: "trigger-worker", workerId, payload: "x" });
    const types = (await world.readLog()).map(({ event }) => event.type);
    expect(types.filter((type) => type.startsWith("worker."))).toEqual([
      "worker.spawned",
      "worker.cancelled",
      "worker.closed",
    ]);
  });

  it("Closing an ended worker repeats its status, and a worker of another session is not found", async () => {
    const boss = createBoss([
      delegates({ task: "Count" }),
      wants(
        { id: "c1", name: "close_agent", input: { worker_id: "worker_other" } },
        { id: "c2", name: "close_agent", input: { worker_id: 7 } },
      ),
      says("Done."),
    ]);
    const world = await openWorld(boss, { others: [createHelper()] });
    await world.prompt("Go");
    await world.waitForEvent("worker.closed");
    await world.waitForEvent("turn.finished");
    const { workerId } = await readSpawned(world);
    expect(await world.send({ type: "close-worker", workerId })).toEqual({
      status: "accepted",
      workerId,
      workerStatus: "completed",
    });
    const { sessionId: other } = await world.sessions.open({ principal: ME, agent: "boss" });
    for (const id of [workerId, "worker_z", ""]) {
      const close = { type: "close-worker", workerId: id } as const;
      expect(await world.sessions.command(other, close, { principal: ME })).toMatchObject({
        failure: { code: "not_found", message: expect.stringContaining("does not exist in this") },
      });
    }
    const endings = (await world.listEvents("tool.finished")).map(({ ending }) => ending);
    expect(endings).toEqual(["succeeded", "refused", "refused"]);
  });

  it("A worker whose turn is cancelled in its own session ends as cancelled in the parent", async () => {
    const world = await start({
      boss: [delegates({ task: "Wait" }), says("Cancelled.")],
      helper: [hangs()],
    });
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    await waitIn(world, childId, ({ type }) => type === "text.delta");
    await world.sessions.command(childId, { type: "cancel" }, { principal: ME });
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.cancelled")).toMatchObject([{ reason: "session" }]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "cancelled" }]);
  });

  it("Deleting a session deletes the sessions of its workers at all levels", async () => {
    const middle = createBoss([delegates({ task: "Deeper" })], { name: "middle" });
    const boss = createBoss([delegates({ task: "Deep" })], {
      workers: { agents: [{ name: "middle" }] },
    });
    const world = await openWorld(boss, { others: [middle, createHelper([hangs()])] });
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    await waitIn(world, childId, ({ type }) => type === "worker.spawned");
    expect(await world.sessions.delete(world.sessionId)).toBe(true);
    expect((await world.store.listSessions({ limit: 10 })).sessions).toEqual([]);
  });

  it("Deleting the session of a running worker cancels the worker in the parent", async () => {
    const world = await start({
      boss: [delegates({ task: "Wait" }), says("Gone.")],
      helper: [hangs()],
    });
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    await waitIn(world, childId, ({ type }) => type === "text.delta");
    expect(await world.sessions.delete(childId)).toBe(true);
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.cancelled")).toMatchObject([{ reason: "closed" }]);
    expect(await world.sessions.find(childId)).toBeUndefined();
  });
});

describe("Limits of workers", () => {
  it("The width is limited: a further worker is refused while the allowed number is open", async () => {
    const world = await start({
      boss: [
        wants(
          { id: "d1", name: "delegate", input: { task: "A", background: true } },
          { id: "d2", name: "delegate", input: { task: "B", background: true } },
        ),
        says("Ok."),
      ],
      helper: [hangs()],
      options: { workers: { maxOpen: 1 } },
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.spawned")).toHaveLength(1);
    const endings = (await world.listEvents("tool.finished")).map(({ ending }) => ending);
    expect(endings).toEqual(["succeeded", "refused"]);
  });

  it("The depth is limited: a worker at the lowest level cannot delegate", async () => {
    const deeper = delegates({ task: "Deeper" });
    const boss = createBoss([deeper, deeper, says("Too deep.")], {
      workers: { agents: [{ name: "boss" }], maxDepth: 1 },
    });
    const world = await openWorld(boss);
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    const refused = await waitIn(world, childId, ({ type }) => type === "tool.finished");
    expect(refused).toMatchObject({ ending: "refused" });
    expect(JSON.stringify(refused)).toContain("nested 1 level deep");
  });

  it("The use of a worker counts in the session's budget, and its caps are a share of the rest", async () => {
    const usage = { inputTokens: 300, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const end = { usage: { ...usage, totalTokens: 300 } };
    const world = await start({
      boss: [delegates({ task: "Count" }), says("Four.")],
      helper: [says("Four files.", end)],
      options: { budgets: { session: { tokens: 1000 } }, workers: { maxOpen: 2 } },
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.spawned")).toMatchObject([{ budget: { tokens: 500 } }]);
    const { childId } = await readSpawned(world);
    const [opened] = await world.store.read(childId, 0, 1);
    expect(opened?.event).toMatchObject({ type: "session.opened", budget: { tokens: 500 } });
    const [scope] = await world.sessions.readUsage(world.sessionId);
    expect(scope?.used).toMatchObject({ tokens: 300, invocations: 3 });
  });

  it("A used budget refuses a worker", async () => {
    const world = await start({
      boss: [delegates({ task: "Count" }), says("Sorry.")],
      options: { budgets: { session: { toolCalls: 1 } } },
    });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("worker.spawned")).toEqual([]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "refused" }]);
  });
});

describe("Approvals of workers", () => {
  const ASKING = { approvals: { deny: [], ask: ["look"], allow: [], default: "ask" } } as const;

  function createLook(runs: string[]) {
    return createTool({ name: "look" }, () => {
      runs.push("look");
      return "seen";
    });
  }

  it("A request of a worker is open in the root session, and the decision there runs the worker's tool", async () => {
    const runs: string[] = [];
    const world = await start({
      boss: [delegates({ task: "Look" }), says("Done.")],
      helper: [wants({ id: "l", name: "look" }), says("Seen.")],
      helperParts: { tools: [createLook(runs)], ...ASKING },
    });
    await world.prompt("Go");
    const request = await world.waitForEvent("approval.requested");
    const { workerId, childId } = await readSpawned(world);
    expect(request).toMatchObject({
      question: "run",
      worker: { workerId, agent: "helper", sessionId: childId, through: workerId },
    });
    expect(runs).toEqual([]);
    expect(await world.decideApproval(request.approvalId, "allow")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(runs).toEqual(["look"]);
    expect(await world.listEvents("approval.resolved")).toMatchObject([
      { decision: "allow", resolvedBy: "person", through: workerId },
    ]);
    const decided = await waitIn(world, childId, ({ type }) => type === "approval.resolved");
    expect(decided).toMatchObject({ approvalId: request.approvalId, decision: "allow" });
  });

  it("A request two levels below is answered at the root", async () => {
    const runs: string[] = [];
    const middle = createBoss([delegates({ task: "Deeper" }), says("Ok.")], { name: "middle" });
    const boss = createBoss([delegates({ task: "Deep" }), says("Done.")], {
      workers: { agents: [{ name: "middle" }] },
    });
    const helper = createHelper([wants({ id: "l", name: "look" }), says("Seen.")], {
      tools: [createLook(runs)],
      ...ASKING,
    });
    const world = await openWorld(boss, { others: [middle, helper] });
    await world.prompt("Go");
    const { approvalId, worker } = await world.waitForEvent("approval.requested");
    const { childId, workerId } = await readSpawned(world);
    expect(worker).toMatchObject({ parentSessionId: childId, through: workerId });
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(runs).toEqual(["look"]);
  });

  it("A sender without the right to approve decides nothing for a worker", async () => {
    const runs: string[] = [];
    const world = await start({
      boss: [delegates({ task: "Look" }), says("Done.")],
      helper: [wants({ id: "l", name: "look" }), says("Not seen.")],
      helperParts: { tools: [createLook(runs)], ...ASKING },
    });
    await world.prompt("Go");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const guest = { id: "guest", rights: ["prompt"] } as const;
    const allow = { type: "decide-approval", approvalId, decision: "allow" } as const;
    expect(await world.send(allow, { principal: guest })).toMatchObject({
      failure: { code: "access_denied" },
    });
    await world.decideApproval(approvalId, "deny");
    await world.waitForEvent("turn.finished");
    expect(runs).toEqual([]);
  });

  it("A cancelled turn withdraws the requests of its workers", async () => {
    const world = await start({
      boss: [delegates({ task: "Look" })],
      helper: [wants({ id: "l", name: "look" })],
      helperParts: { tools: [createLook([])], ...ASKING },
    });
    await world.prompt("Go");
    await world.waitForEvent("approval.requested");
    await world.cancel();
    expect(await world.waitForEvent("approval.resolved")).toMatchObject({ resolvedBy: "cancel" });
    await world.waitForEvent("worker.closed");
    expect((await world.sessions.status(world.sessionId)).openApprovals).toEqual([]);
  });

  it("An open request of a worker survives a kill, and is answered once afterwards", async () => {
    const runs: string[] = [];
    const world = await start({
      boss: [delegates({ task: "Look" }), says("Done.")],
      helper: [wants({ id: "l", name: "look" }), says("Seen.")],
      helperParts: { tools: [createLook(runs)], ...ASKING },
    });
    await world.prompt("Go");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const next = await world.restart();
    await next.decideApproval(approvalId, "allow");
    await next.waitForEvent("turn.finished");
    expect(runs).toEqual(["look"]);
    expect(await next.listEvents("approval.requested")).toHaveLength(1);
    expect(await next.listEvents("worker.completed")).toHaveLength(1);
  });
});

describe("A worker's session", () => {
  it("A message steers a running worker like any session", async () => {
    const helper = createScriptedProvider([wants({ id: "l", name: "look" }), says("Changed.")]);
    let openGate = (): void => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const look = createTool({ name: "look" }, () => gate);
    const agent = createAgent({ name: "helper", provider: helper, tools: [look] });
    const boss = createBoss([delegates({ task: "Look" }), says("Done.")]);
    const world = await openWorld(boss, { others: [agent] });
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    await waitIn(world, childId, ({ type }) => type === "tool.started");
    const content = [{ type: "text", text: "Look at b.txt" }] as const;
    const inject = { type: "inject", mode: "steer", content } as const;
    const reply = await world.sessions.command(childId, inject, { principal: ME });
    expect(reply).toMatchObject({ deliveredAs: "steer" });
    openGate();
    await world.waitForEvent("turn.finished");
    expect(JSON.stringify(helper.invocations[1]?.input)).toContain("Look at b.txt");
  });

  it("A worker of a daemon agent does not wake by itself after its turn", async () => {
    const world = await start({
      boss: [delegates({ task: "Count" }), says("Four.")],
      helperParts: { daemon: { wakeIntervalMs: 1 } },
    });
    await world.prompt("Go");
    await world.waitForEvent("worker.closed");
    const { childId } = await readSpawned(world);
    expect(await world.sessions.find(childId)).toMatchObject({ state: "idle", wakeAt: null });
  });

  it("A worker starts in the session mode of its parent", async () => {
    const world = await start({ boss: [delegates({ task: "Count" }), says("Four.")] });
    await world.send({ type: "set-mode", mode: "read-only" });
    await world.prompt("Go");
    const { childId } = await readSpawned(world);
    await world.waitForEvent("turn.finished");
    expect((await world.sessions.status(childId)).mode).toBe("read-only");
  });

  it("A list can leave out the sessions of workers, or name those of one session", async () => {
    const world = await start({ boss: [delegates({ task: "Count" }), says("Four.")] });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    const { childId } = await readSpawned(world);
    const list = async (parent: string | null) =>
      (await world.sessions.list({ limit: 10, parent })).sessions.map((one) => one.sessionId);
    expect(await list(null)).toEqual([world.sessionId]);
    expect(await list(world.sessionId)).toEqual([childId]);
  });
});
