import { describe, expect, it } from "vitest";
import type { AgentBudgets, BudgetCaps } from "../../../src/domain/budget.ts";
import type { TurnEnd } from "../../../src/domain/provider/provider-event.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  createScriptedProvider,
  says,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
  type SessionWorld,
  type WorldOptions,
} from "../../support/session/session-world.ts";

/** The tokens of a single invocation. */
function tokens(total: number): Pick<TurnEnd, "usage"> {
  const cacheTokens = { cacheReadTokens: 0, cacheWriteTokens: 0 };
  return {
    usage: { inputTokens: total - 10, outputTokens: 10, ...cacheTokens, totalTokens: total },
  };
}

/** A response which calls a tool and costs tokens. */
function works(id: string, total: number): ProviderScript {
  const call = wants({ id, name: "look" });
  return async function* (signal, invocation) {
    for await (const event of call(signal, invocation))
      yield event.type === "end" ? { ...event, ...tokens(total) } : event;
  };
}

interface Setup {
  readonly budgets?: AgentBudgets;
  readonly answers?: readonly ProviderScript[];
  readonly parts?: Partial<AgentParts>;
  readonly options?: WorldOptions;
}

const WORKING = [works("c1", 400), works("c2", 700), says("Done.", tokens(100))];

function createBudgetAgent({ budgets, answers = WORKING, parts = {} }: Setup) {
  const provider = createScriptedProvider(answers);
  const look = createTool({ name: "look" }, () => "seen");
  const agent = createAgent({
    provider,
    tools: [look],
    ...(budgets !== undefined && { budgets }),
    ...parts,
  });
  return { provider, agent };
}

async function openBudgetWorld(setup: Setup) {
  const { provider, agent } = createBudgetAgent(setup);
  const world = await openWorld(agent, setup.options);
  return { provider, agent, world };
}

function prompt(world: SessionWorld, budget?: BudgetCaps) {
  const content = [{ type: "text", text: "Go" }] as const;
  return world.send({
    type: "prompt",
    content,
    ...(budget !== undefined && { options: { budget } }),
  });
}

describe("A budget of a turn", () => {
  it("A turn that reaches its budget is paused with a question, and continues after an approval", async () => {
    const { world, provider } = await openBudgetWorld({ budgets: { turn: { tokens: 1000 } } });
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    expect(approval).toMatchObject({
      question: "budget",
      options: ["continue", "stop"],
      action: "This turn has used 1,100 of 1,000 tokens; continue with 1,000 more tokens?",
      input: null,
    });
    expect(provider.invocations).toHaveLength(2);
    await world.decideApproval(approval.approvalId, "continue");
    const finished = await world.waitForEvent("turn.finished");
    expect(finished).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("budget.reached")).toEqual([
      { type: "budget.reached", scope: "turn", unit: "tokens", used: 1100, cap: 1000 },
    ]);
    expect(await world.listEvents("budget.extended")).toEqual([
      { type: "budget.extended", scope: "turn", unit: "tokens", cap: 2100 },
    ]);
    expect(provider.invocations).toHaveLength(3);
  });

  it("A denied extension ends the turn as limited, with the content so far", async () => {
    const { world, provider } = await openBudgetWorld({ budgets: { turn: { tokens: 1000 } } });
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    await world.decideApproval(approval.approvalId, "stop");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "limited",
      reason: "budget_tokens",
      steps: 2,
      usage: { totalTokens: 1100 },
    });
    expect(provider.invocations).toHaveLength(2);
    expect(await world.listEvents("budget.extended")).toEqual([]);
  });

  it("An unanswered question about a budget ends the turn at its deadline", async () => {
    const clock = createFakeClock();
    const { world } = await openBudgetWorld({
      budgets: { turn: { tokens: 300 } },
      parts: { approvalMs: 5000 },
      options: { clock },
    });
    await prompt(world);
    await world.waitForEvent("approval.requested");
    clock.advance(5000);
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "limited",
      reason: "budget_tokens",
    });
    expect(await world.listEvents("approval.resolved")).toMatchObject([
      { decision: "stop", resolvedBy: "deadline" },
    ]);
  });

  it("The question about a budget stays open across a restart, and its approval continues the turn once", async () => {
    const { world, provider } = await openBudgetWorld({ budgets: { turn: { tokens: 1000 } } });
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    const restarted = await world.restart();
    expect(await restarted.listEvents("approval.requested")).toHaveLength(1);
    await restarted.decideApproval(approval.approvalId, "continue");
    expect(await restarted.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(provider.invocations).toHaveLength(3);
    expect(await restarted.listEvents("budget.extended")).toHaveLength(1);
  });

  it("A prompt's own budget makes the turn's budget tighter, and never looser", async () => {
    const { world } = await openBudgetWorld({ budgets: { turn: { tokens: 1000 } } });
    await prompt(world, { tokens: 300 });
    const approval = await world.waitForEvent("approval.requested");
    expect(approval.action).toBe(
      "This turn has used 400 of 300 tokens; continue with 300 more tokens?",
    );
    await world.decideApproval(approval.approvalId, "stop");
    await world.waitForEvent("turn.finished");
    const looser = await openBudgetWorld({ budgets: { turn: { tokens: 300 } } });
    await prompt(looser.world, { tokens: 100_000 });
    expect(await looser.world.waitForEvent("budget.reached")).toMatchObject({ cap: 300 });
  });

  it("A prompt can have a budget although the agent has none", async () => {
    const { world } = await openBudgetWorld({});
    await prompt(world, { invocations: 1 });
    const approval = await world.waitForEvent("approval.requested");
    expect(approval.action).toBe(
      "This turn has used 1 of 1 invocation; continue with 1 more invocation?",
    );
    await world.decideApproval(approval.approvalId, "stop");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      reason: "budget_invocations",
    });
  });

  it.each([
    [{ tokens: 0 }, "options.budget.tokens"],
    [{ usd: -1 }, "options.budget.usd"],
    [{ usd: 1 }, "options.budget.usd"],
    [{ seconds: Number.NaN }, "options.budget.seconds"],
  ])("A prompt with the budget %j is refused", async (budget, path) => {
    const { world } = await openBudgetWorld({});
    expect(await prompt(world, budget)).toMatchObject({
      status: "refused",
      failure: { code: "invalid_option", details: { path } },
    });
  });

  it("A turn's budget starts again with the next turn, and a session's budget does not", async () => {
    const answers = [says("One.", tokens(600)), says("Two.", tokens(600)), says("Three.")];
    const { world } = await openBudgetWorld({
      answers,
      budgets: { turn: { tokens: 1000 }, session: { tokens: 1000 } },
    });
    await prompt(world);
    await world.waitForEvent("turn.finished");
    await prompt(world);
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("budget.reached")).toEqual([]);
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    expect(await world.listEvents("budget.reached")).toMatchObject([
      { scope: "session", used: 1200, cap: 1000 },
    ]);
    await world.decideApproval(approval.approvalId, "continue");
    expect(await world.waitForEvent("turn.finished", 3)).toMatchObject({ outcome: "completed" });
  });

  it("The estimated price counts against a budget in US dollars", async () => {
    const { world } = await openBudgetWorld({
      budgets: { turn: { usd: 0.01 }, prices: { input: 10, output: 100 }, extend: 0.5 },
    });
    await prompt(world);
    // 390 × $10 + 10 × $100, then 690 × $10 + 10 × $100, per million tokens.
    const approval = await world.waitForEvent("approval.requested");
    expect(await world.listEvents("budget.reached")).toMatchObject([
      { unit: "usd", used: expect.closeTo(0.0128, 6) },
    ]);
    expect(approval.action).toBe("This turn has used $0.01 of $0.01; continue with $0.0050 more?");
    await world.decideApproval(approval.approvalId, "stop");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ reason: "budget_usd" });
  });

  it("A budget in seconds excludes the time for which the turn waits for people", async () => {
    const clock = createFakeClock();
    const { world } = await openBudgetWorld({
      budgets: { turn: { seconds: 60 } },
      parts: { approvals: { deny: [], ask: ["look"], allow: [], default: "ask" } },
      answers: [works("c1", 1), says("Done.")],
      options: { clock },
    });
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    clock.advance(100_000);
    await world.decideApproval(approval.approvalId, "allow");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });
});

describe("A budget of tool calls", () => {
  it("A tool call beyond the budget starts only after an approval", async () => {
    const { world } = await openBudgetWorld({
      budgets: { turn: { toolCalls: 1 } },
      answers: [wants({ id: "c1", name: "look" }, { id: "c2", name: "look" }), says("Done.")],
    });
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    expect(approval.action).toBe(
      "This turn has used 1 of 1 tool call; continue with 1 more tool call?",
    );
    expect(await world.listEvents("tool.started")).toHaveLength(1);
    await world.decideApproval(approval.approvalId, "continue");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("tool.started")).toHaveLength(2);
  });

  it("A denied extension of tool calls ends the turn, and the tool never runs", async () => {
    const { world } = await openBudgetWorld({
      budgets: { session: { toolCalls: 1 } },
      answers: [wants({ id: "c1", name: "look" }, { id: "c2", name: "look" }), says("Done.")],
    });
    await prompt(world);
    const approval = await world.waitForEvent("approval.requested");
    await world.decideApproval(approval.approvalId, "stop");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "limited",
      reason: "budget_tool_calls",
    });
    expect(await world.listEvents("tool.started")).toHaveLength(1);
    expect(await world.listEvents("tool.finished")).toMatchObject([
      { ending: "succeeded" },
      { ending: "cancelled" },
    ]);
  });

  it("A turn that used all its tool calls can still answer", async () => {
    const { world } = await openBudgetWorld({
      budgets: { turn: { toolCalls: 1 } },
      answers: [works("c1", 1), says("Done.")],
    });
    await prompt(world);
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("budget.reached")).toEqual([]);
  });
});

describe("A budget that is nearly used", () => {
  it("The agent is reminded once when 80 % of a budget is used", async () => {
    const answers = [works("c1", 850), works("c2", 50), says("Done.", tokens(20))];
    const { world, provider } = await openBudgetWorld({
      answers,
      budgets: { turn: { tokens: 1000 } },
    });
    await prompt(world);
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("reminder.queued")).toMatchObject([
      {
        reminder: {
          tags: ["budget"],
          source: "stdlib_provider",
          dedupeKey: "budget.turn.tokens",
        },
      },
    ]);
    expect(provider.invocations[1]?.input).toMatchObject({
      texts: [
        "<system-reminder>\n[budget] This turn has used 850 of 1,000 tokens. Finish the most important work first.\n</system-reminder>",
      ],
    });
    expect(provider.invocations[2]?.input).not.toHaveProperty("texts.0");
  });
});

describe("An agent without budgets", () => {
  it("An agent without budgets has neither budget events nor records", async () => {
    const { world } = await openBudgetWorld({});
    await prompt(world);
    await world.waitForEvent("turn.finished");
    const types = (await world.readLog()).map(({ event }) => event.type);
    expect(types.filter((type) => type.startsWith("budget."))).toEqual([]);
    expect(await world.store.listRecords({ scope: "budget", limit: 10 })).toEqual({ records: [] });
  });
});
