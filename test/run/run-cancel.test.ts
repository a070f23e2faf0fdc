import { describe, expect, it } from "vitest";
import { runToCompletion } from "../../src/bridge/run/run-to-completion.ts";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { agentWith, scripted, tool } from "./run-world.ts";

const CALLS = "turns: [{ answer: [One moment., { call: look, input: {} }] }, { answer: Seen. }]";

describe("Runs whose caller aborts", () => {
  it("An abort ends a run as cancelled even if a tool ignores it, and stops the upstream session [RMA-P0-6] [RMA-P1-9]", async () => {
    const { provider, requests, stopped } = await scripted(CALLS);
    const caller = new AbortController();
    let toolSignal: AbortSignal | undefined;
    let exitCount = 0;
    const hang = tool("look", (_, { signal }) => {
      toolSignal = signal;
      exitCount = performance.now();
      caller.abort();
      return new Promise(() => {});
    });
    const result = await runToCompletion(agentWith({ provider, tools: [hang] }), {
      prompt: "Look",
      signal: caller.signal,
    });
    expect(performance.now() - exitCount).toBeLessThan(5000);
    expect(result).toMatchObject({
      outcome: "cancelled",
      reason: null,
      texts: ["One moment."],
      toolCalls: [{ ending: "cancelled", result: { isError: true } }],
      steps: 1,
    });
    expect([toolSignal?.aborted, requests.length, stopped.length]).toEqual([true, 1, 1]);
  });

  it("An abort ends a run as cancelled while the agent is silent", async () => {
    const { provider } = await scripted(
      "turns: [{ answer: [Wait., { pause: 600000 }, Done.], faults: {} }]",
    );
    const caller = new AbortController();
    const result = await runToCompletion(agentWith({ provider }), {
      prompt: "Go",
      signal: caller.signal,
      onEvent({ event }) {
        if (event.type === "text.delta") caller.abort();
      },
    });
    expect(result).toMatchObject({ outcome: "cancelled", steps: 1 });
  });

  it("An abort ends a run as cancelled while an approval is pending", async () => {
    const { provider, requests } = await scripted(CALLS);
    const caller = new AbortController();
    const look = tool("look", () => expect.unreachable());
    const result = await runToCompletion(defineAgent({ name: "a", provider, tools: [look] }), {
      prompt: "Look",
      signal: caller.signal,
      approve() {
        caller.abort();
        return new Promise(() => {});
      },
    });
    expect([result.outcome, requests.length]).toEqual(["cancelled", 1]);
  });

  it("A run that is aborted before it starts makes no invocation", async () => {
    const { provider, requests, stopped } = await scripted(CALLS);
    const result = await runToCompletion(agentWith({ provider }), {
      prompt: "Look",
      signal: AbortSignal.abort(),
    });
    expect(result).toEqual({
      outcome: "cancelled",
      reason: null,
      texts: [],
      text: "",
      finalText: "",
      toolCalls: [],
      serverToolCalls: [],
      usage: null,
      steps: 0,
      sessionId: expect.stringMatching(/^ses_/),
    });
    expect([requests, stopped]).toEqual([[], []]);
  });

  it("A tool that exceeds its time limit gives an error result, and the run continues [RMA-P0-6]", async () => {
    const { provider } = await scripted(CALLS);
    const hang = tool("look", () => new Promise(() => {}), { timeoutMs: 20 });
    const result = await runToCompletion(agentWith({ provider, tools: [hang] }), {
      prompt: "Look",
    });
    expect(result).toMatchObject({
      outcome: "completed",
      finalText: "Seen.",
      toolCalls: [{ ending: "timed-out", result: { isError: true } }],
    });
  });
});
