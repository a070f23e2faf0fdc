import { describe, expect, it } from "vitest";
import { runToCompletion } from "../../src/bridge/run/run-to-completion.ts";
import type { TurnUsage } from "../../src/bridge/run/guarded-provider.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { agentWith, scripted, tool } from "./run-world.ts";

/** Calls the same tool in every step. */
const LOOP = `
repeat: true
turns:
  - answer: [Once more., { call: look, input: {} }, { usage: { input: 70, output: 30 } }]
`;

describe("Caps of a run", () => {
  it.each([
    [{ steps: 3 }, "max_steps", 3],
    [{ tokens: 150 }, "max_tokens", 2],
    [{ toolCalls: 1 }, "max_tool_calls", 2],
  ] as const)(
    "A run with the caps %j ends before the next invocation [RMA-P1-18]",
    async (caps, reason, made) => {
      const { provider, requests } = await scripted(LOOP);
      const agent = agentWith({ provider, tools: [tool("look", () => "nothing")] });
      const result = await runToCompletion(agent, { prompt: "Look", caps });
      expect(result).toMatchObject({ outcome: "limited", reason, steps: made });
      expect(requests.length).toBe(made);
      expect(result.texts).toEqual(Array(made).fill("Once more."));
      expect(result.toolCalls.length).toBe(made);
    },
  );

  it("A run with a cap on seconds ends before the next invocation [RMA-P1-18]", async () => {
    const { provider, requests } = await scripted(LOOP);
    const clock = createFakeClock();
    const slow = tool("look", () => {
      clock.advance(30_000);
      return "nothing";
    });
    const result = await runToCompletion(agentWith({ provider, tools: [slow] }), {
      prompt: "Look",
      caps: { seconds: 60 },
      clock,
    });
    expect(result).toMatchObject({ outcome: "limited", reason: "max_seconds" });
    expect(requests.length).toBe(2);
  });

  it("The caps of the agent apply if the run has none", async () => {
    const { provider } = await scripted(LOOP);
    const agent = agentWith({ provider, tools: [tool("look", () => "x")], caps: { steps: 2 } });
    const { reason, steps } = await runToCompletion(agent, { prompt: "Look" });
    expect([reason, steps]).toEqual(["max_steps", 2]);
  });
});

describe("The guard of a run", () => {
  it("The guard gets the usage and halts the run before the next invocation [RMA-P1-18]", async () => {
    const { provider, requests } = await scripted(LOOP);
    const seen: TurnUsage[] = [];
    const agent = agentWith({ provider, tools: [tool("look", () => "nothing")] });
    const result = await runToCompletion(agent, {
      prompt: "Look",
      guard(spent) {
        seen.push(spent);
        return (spent.usage?.totalTokens ?? 0) >= 200 ? "over budget" : undefined;
      },
    });
    expect(seen.map(({ invocations, usage }) => [invocations, usage?.totalTokens])).toEqual([
      [1, 100],
      [2, 200],
    ]);
    expect(result).toMatchObject({
      outcome: "failed",
      failure: { code: "halted", message: "The turn was halted: over budget" },
      steps: 2,
    });
    expect([requests.length, result.texts]).toEqual([2, ["Once more.", "Once more."]]);
  });

  it("A guard that throws halts the run, and the failure says so", async () => {
    const { provider, requests } = await scripted(LOOP);
    const agent = agentWith({ provider, tools: [tool("look", () => "nothing")] });
    const result = await runToCompletion(agent, {
      prompt: "Look",
      guard: () => Promise.reject(new Error("no price list")),
    });
    expect(result.failure).toMatchObject({
      code: "halted",
      message: "The turn was halted: its guard failed: no price list",
    });
    expect(requests.length).toBe(1);
  });

  it("The guard is also called before a reprompt for the terminal tool", async () => {
    const { provider, requests } = await scripted("{ repeat: true, turns: [{ answer: Hm. }] }");
    const agent = agentWith({
      provider,
      tools: [tool("finish", () => "ok")],
      terminalTool: { name: "finish" },
    });
    const { failure } = await runToCompletion(agent, { prompt: "Go", guard: () => "enough" });
    expect([failure?.code, requests.length]).toEqual(["halted", 1]);
  });
});

describe("Runs with a terminal tool", () => {
  const REPORT = `
turns:
  - when: have not called
    answer: { call: report, input: { result: 42 } }
  - when: { result: report }
    answer: Goodbye.
  - answer: It is 42.
`.replace("answer: { call", "answer:\n      - { call");

  it("The agent is prompted again until it calls the terminal tool, and the run completes", async () => {
    const { provider, requests } = await scripted(REPORT);
    const agent = agentWith({
      provider,
      tools: [tool("report", () => "thanks")],
      terminalTool: { name: "report" },
    });
    const result = await runToCompletion(agent, { prompt: "What is it?" });
    expect(result).toMatchObject({
      outcome: "completed",
      reason: "end_turn",
      texts: ["It is 42.", "Goodbye."],
      toolCalls: [{ toolCall: { name: "report", input: { result: 42 } }, ending: "succeeded" }],
      steps: 3,
    });
    expect(requests[1]?.messages.at(-1)).toMatchObject({
      content: [{ text: "You have not called report yet. Call it now to finish." }],
    });
  });

  it("A run without its terminal tool call ends as limited with no_terminal_tool", async () => {
    const { provider, requests } = await scripted("{ repeat: true, turns: [{ answer: Hm. }] }");
    const run = (maxReprompts: number) =>
      runToCompletion(
        agentWith({
          provider,
          tools: [tool("report", () => "thanks")],
          terminalTool: { name: "report", maxReprompts },
        }),
        { prompt: "Go" },
      );
    expect(await run(2)).toMatchObject({
      outcome: "limited",
      reason: "no_terminal_tool",
      texts: ["Hm.", "Hm.", "Hm."],
      steps: 3,
    });
    expect(await run(0)).toMatchObject({ reason: "no_terminal_tool", steps: 1 });
    expect(requests.length).toBe(4);
  });

  it("A failed call of the terminal tool does not count [RMA-P1-17]", async () => {
    const { provider } = await scripted(REPORT);
    let attempts = 0;
    const report = tool("report", () => {
      attempts += 1;
      if (attempts === 1) throw new Error("not yet");
      return "thanks";
    });
    const agent = agentWith({
      provider,
      tools: [report],
      terminalTool: { name: "report", maxReprompts: 5 },
    });
    const { outcome, toolCalls: calls } = await runToCompletion(agent, { prompt: "What is it?" });
    expect([outcome, calls.map(({ ending }) => ending)]).toEqual([
      "completed",
      ["failed", "succeeded"],
    ]);
  });

  it("A run can stop at the terminal tool without a further invocation [RMA-P1-17]", async () => {
    const { provider, requests } = await scripted(REPORT);
    const agent = agentWith({
      provider,
      tools: [tool("report", () => "thanks")],
      terminalTool: { name: "report" },
    });
    const result = await runToCompletion(agent, {
      prompt: "What is it?",
      stopAtTerminalTool: true,
    });
    expect(result).toMatchObject({
      outcome: "completed",
      reason: "terminal_tool",
      texts: ["It is 42."],
      toolCalls: [{ ending: "succeeded" }],
      steps: 2,
    });
    expect(requests.length).toBe(2);
  });
});
