import { describe, expect, it } from "vitest";
import type { AgentBudgets, BudgetCaps } from "../../../src/domain/budget.ts";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { eventually } from "../../support/eventually.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  createScriptedProvider,
  hangs,
  says,
  wants,
  type ProviderScript,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  ME,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { createBoss, delegates } from "../../support/session/worker-world.ts";

const TOKENS = 100;

/** Adds the tokens of an invocation to a response. */
function costs(script: ProviderScript): ProviderScript {
  const usage = { inputTokens: TOKENS, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  return async function* (signal, invocation) {
    for await (const event of script(signal, invocation))
      yield event.type === "end" ? { ...event, usage: { ...usage, totalTokens: TOKENS } } : event;
  };
}

interface Helper {
  readonly agent: Agent;
  readonly provider: ScriptedProvider;
  readonly runs: readonly string[];
}

/** A worker which calls the tool `look` in each invocation and never ends by itself. */
function createTirelessHelper(): Helper {
  const runs: string[] = [];
  const look = createTool({ name: "look" }, (_, { sessionId }) => {
    runs.push(sessionId);
    return "seen";
  });
  const provider = createScriptedProvider([costs(wants({ id: "l", name: "look" }))]);
  const agent = createAgent({ name: "helper", provider, tools: [look], caps: { steps: 1000 } });
  return { agent, provider, runs };
}

function delegatesTwo(budget?: BudgetCaps): ProviderScript {
  const input = { task: "Look", ...(budget !== undefined && { budget: { ...budget } }) };
  return costs(wants({ id: "d1", name: "delegate", input }, { id: "d2", name: "delegate", input }));
}

/** Denies every extension of a budget, until the turn of the session has ended. */
async function playWithoutExtensions(world: SessionWorld): Promise<void> {
  const denied = new Set<string>();
  await eventually(async () => {
    for (const { approvalId } of await world.listEvents("approval.requested")) {
      if (denied.has(approvalId)) continue;
      denied.add(approvalId);
      await world.send({ type: "decide-approval", approvalId, decision: "stop" });
    }
    expect(await world.listEvents("turn.finished")).toHaveLength(1);
  });
  await eventually(async () =>
    expect(await world.listEvents("worker.closed")).toHaveLength(
      (await world.listEvents("worker.spawned")).length,
    ),
  );
}

async function readUsed(world: SessionWorld) {
  const scopes = await world.sessions.readUsage(world.sessionId);
  return scopes.find(({ name }) => name.startsWith("session"))?.used;
}

describe("Two workers which draw on the same budget at once", () => {
  it.each([
    ["of the session", { session: { invocations: 12 } }, undefined],
    ["of the turn", { turn: { invocations: 12 } }, undefined],
    ["which is odd", { session: { invocations: 9 } }, undefined],
    ["of which each requests everything", { session: { invocations: 12 } }, { invocations: 12 }],
  ] as [string, AgentBudgets, BudgetCaps | undefined][])(
    "The invocations of both and of their parent never exceed a budget %s",
    async (_, budgets, requested) => {
      const helper = createTirelessHelper();
      const boss = createBoss([delegatesTwo(requested), costs(says("Done."))], {
        budgets: { ...budgets, extend: 1 },
        workers: { maxOpen: 2 },
      });
      const world = await openWorld(boss, { others: [helper.agent] });
      await world.prompt("Go");
      await playWithoutExtensions(world);
      const cap = budgets.session?.invocations ?? budgets.turn?.invocations ?? 0;
      const bossInvocations = (await world.listEvents("invocation.started")).length;
      const total = bossInvocations + helper.provider.invocations.length;
      expect(total).toBeLessThanOrEqual(cap);
      expect(total).toBeGreaterThanOrEqual(cap - 1);
      expect(await readUsed(world)).toMatchObject({ invocations: total, tokens: total * TOKENS });
    },
  );

  it("The tool calls of both and of their parent never exceed a budget", async () => {
    const helper = createTirelessHelper();
    const boss = createBoss([delegatesTwo(), costs(says("Done."))], {
      budgets: { session: { toolCalls: 9 } },
      workers: { maxOpen: 2 },
    });
    const world = await openWorld(boss, { others: [helper.agent] });
    await world.prompt("Go");
    await playWithoutExtensions(world);
    expect(helper.runs.length).toBe(7);
    expect(await readUsed(world)).toMatchObject({ toolCalls: 9 });
  });
});

describe("Budgets at two levels of workers", () => {
  function createTree(helper: Agent, middle: readonly ProviderScript[], budgets: AgentBudgets) {
    const agents = [{ name: "middle" }];
    const boss = createBoss([costs(delegates({ task: "Deep" })), costs(says("Done."))], {
      budgets,
      workers: { agents, maxOpen: 1 },
    });
    const others = [createBoss(middle, { name: "middle", workers: { maxOpen: 1 } }), helper];
    return openWorld(boss, { others });
  }

  it("The invocations of a worker's worker stay within the budget of the root session and count there", async () => {
    const helper = createTirelessHelper();
    const middle = [costs(delegates({ task: "Deeper" })), costs(says("Middle."))];
    const world = await createTree(helper.agent, middle, { session: { invocations: 10 } });
    await world.prompt("Go");
    await playWithoutExtensions(world);
    const own = (await world.listEvents("invocation.started")).length;
    // The worker at depth 1 has 9 invocations and delegates with the first.
    expect([own, helper.provider.invocations.length]).toEqual([1, 8]);
    expect(await readUsed(world)).toMatchObject({ invocations: 10, tokens: 1000 });
  });

  it("The use of a worker's worker which is cut off counts in the root session", async () => {
    const hanging = createScriptedProvider([costs(wants({ id: "l", name: "look" })), hangs()]);
    const look = createTool({ name: "look" }, () => "seen");
    const helper = createAgent({ name: "helper", provider: hanging, tools: [look] });
    const middle = [costs(delegates({ task: "Deeper" }))];
    const world = await createTree(helper, middle, { session: { invocations: 50 } });
    await world.prompt("Go");
    await eventually(() => expect(hanging.invocations).toHaveLength(2));
    await world.cancel();
    await world.waitForEvent("worker.closed");
    expect(await readUsed(world)).toMatchObject({ invocations: 4 });
  });
});

describe("Seconds of workers", () => {
  it("A worker has the remaining seconds of its parent undivided, stops there, and adds no seconds to its parent", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([costs(wants({ id: "l", name: "look" }))]);
    const look = createTool({ name: "look" }, () => clock.advance(20_000));
    const helper = createAgent({ name: "helper", provider, tools: [look] });
    const boss = createBoss([says("Ready.")], {
      budgets: { session: { seconds: 50 } },
      workers: { maxOpen: 4 },
    });
    const world = await openWorld(boss, { others: [helper], clock });
    const task = { task: "Look", isBackground: true, isRetriggerable: false };
    await world.send({ type: "delegate", ...task });
    const spawned = await world.waitForEvent("worker.spawned");
    expect(spawned.budget).toEqual({ seconds: 50 });
    const { approvalId, question, action } = await world.waitForEvent("approval.requested");
    expect(question).toBe("budget");
    expect(action).toContain("has used 60 of 50 seconds");
    await world.decideApproval(approvalId, "stop");
    const failed = await world.waitForEvent("worker.failed");
    expect(failed).toMatchObject({ failure: { code: "halted" } });
    expect(provider.invocations).toHaveLength(3);
    await world.waitForEvent("worker.closed");
    expect(await readUsed(world)).toMatchObject({ seconds: 0, invocations: 3 });
  });

  it("A worker has no more seconds than it requests", async () => {
    const boss = createBoss([says("Ready.")], { budgets: { session: { seconds: 50 } } });
    const helper = createAgent({ name: "helper", provider: createScriptedProvider([says("Hi.")]) });
    const world = await openWorld(boss, { others: [helper] });
    const task = { task: "Look", isBackground: true, isRetriggerable: false };
    await world.send({ type: "delegate", ...task, budget: { seconds: 30 } });
    await world.send({ type: "delegate", ...task, budget: { seconds: 300 } });
    await world.waitForEvent("worker.spawned", 2);
    const budgets = (await world.listEvents("worker.spawned")).map(({ budget }) => budget);
    expect(budgets).toEqual([{ seconds: 30 }, { seconds: 50 }]);
  });
});

describe("Budgets of retriggerable workers", () => {
  it("A trigger is refused if the rest of the worker's budget exceeds the budget of the turn", async () => {
    let triggeredId = "";
    const trigger: ProviderScript = (signal, call) => {
      const input = { worker_id: triggeredId, payload: "again" };
      return wants({ id: "t1", name: "worker_trigger", input })(signal, call);
    };
    const look = createTool({ name: "look" }, () => "seen");
    const boss = createBoss(
      [
        delegates({ task: "Count", retriggerable: true, budget: { toolCalls: 8 } }),
        says("Ok."),
        wants({ id: "l1", name: "look" }, { id: "l2", name: "look" }),
        trigger,
        says("Sorry."),
      ],
      { budgets: { turn: { toolCalls: 10 } }, tools: [look] },
    );
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = await openWorld(boss, { others: [createAgent({ name: "helper", provider })] });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    const { workerId } = await world.waitForEvent("worker.spawned");
    triggeredId = workerId;
    await world.prompt("Again");
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("worker.progressed")).toEqual([]);
    const refused = (await world.listEvents("tool.finished")).at(-1);
    expect(refused).toMatchObject({ ending: "refused" });
    expect(JSON.stringify(refused)).toContain("may still use 8 toolCalls, and 7 of");
    // Between two turns only the budget of the session limits the worker.
    const reply = await world.send({ type: "trigger-worker", workerId, payload: "again" });
    expect(reply).toMatchObject({ status: "accepted" });
  });

  it("A cycle which cannot start counts the earlier cycles once", async () => {
    const provider = createScriptedProvider([costs(says("One.")), hangs()]);
    const helper = createAgent({ name: "helper", provider });
    const boss = createBoss([says("Ready.")], { budgets: { session: { invocations: 50 } } });
    const world = await openWorld(boss, { others: [helper] });
    const task = { task: "Count", isBackground: true, isRetriggerable: true };
    await world.send({ type: "delegate", ...task });
    const { workerId, result } = await world.waitForEvent("worker.waiting_for_input");
    const { sessionId } = await world.waitForEvent("worker.spawned");
    // A session refuses further prompts while 100 are queued.
    const content = [{ type: "text", text: "Wait" }] as const;
    for (let count = 0; count <= 100; count++)
      await world.sessions.command(sessionId, { type: "prompt", content }, { principal: ME });
    await eventually(() => expect(provider.invocations).toHaveLength(2));
    await world.send({ type: "trigger-worker", workerId, payload: "again" });
    const { usage } = await world.waitForEvent("worker.failed");
    expect(usage).toEqual(result.usage);
    await world.waitForEvent("worker.closed");
    expect(await readUsed(world)).toMatchObject({ invocations: 2 });
  });
});
