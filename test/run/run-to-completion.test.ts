import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { defineAgent } from "../../src/bridge/agent/define-agent.ts";
import { runToCompletion } from "../../src/bridge/run/run-to-completion.ts";
import type { ApprovalRequested } from "../../src/domain/events/approval-events.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { SpanlineError } from "../../src/domain/errors.ts";
import { emulate, TEST_CREDENTIALS } from "../../src/emulator/index.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { harnessProvider } from "../../src/providers/agentcore/harness-provider.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { agentWith, scripted, tool } from "./run-world.ts";

const REFUND = `
turns:
  - when: refund
    answer:
      - Let me see.
      - { call: refund, input: { order: 7 } }
  - when: { result: { tool: refund, status: error } }
    answer: Then I leave it.
  - when: { result: refund }
    answer: Done.
`;

async function demoProvider() {
  const emulator = await emulate();
  onTestFinished(() => emulator.close());
  return harnessProvider({
    harnessArn: emulator.demoArn,
    endpoint: emulator.url,
    credentials: TEST_CREDENTIALS,
  });
}

describe("runToCompletion", () => {
  it("A run goes from a prompt through a tool of the app to the end of the turn, with the demo agent", async () => {
    const weather = defineTool({
      name: "get_weather",
      description: "Tells the weather of a city",
      input: z.object({ city: z.string() }),
      run: ({ city }) => ({ city, sky: "rain" }),
    });
    const agent = defineAgent({
      name: "demo",
      provider: await demoProvider(),
      tools: [weather],
      approvals: { allow: ["get_*"] },
    });
    const result = await runToCompletion(agent, { prompt: "How is the weather in Bergen?" });
    expect(result).toMatchObject({
      outcome: "completed",
      reason: "end_turn",
      finalText: "Done. get_weather says: city: Bergen, sky: rain.",
      toolCalls: [
        {
          toolCall: { name: "get_weather", input: { city: "Bergen" }, runBy: "client" },
          result: { isError: false, parts: [{ type: "json", value: { sky: "rain" } }] },
          ending: "succeeded",
        },
      ],
      serverToolCalls: [],
      steps: 2,
    });
    expect(result).not.toHaveProperty("failure");
    expect(result.usage?.totalTokens).toBeGreaterThan(0);
  });

  it("The result has all texts by message and the final text alone [RMA-P1-16]", async () => {
    const { provider } = await scripted(REFUND);
    const agent = agentWith({ provider, tools: [tool("refund", () => "paid")] });
    const { texts, text, finalText } = await runToCompletion(agent, { prompt: "refund 7" });
    expect({ texts, text, finalText }).toEqual({
      texts: ["Let me see.", "Done."],
      text: "Let me see.\n\nDone.",
      finalText: "Done.",
    });
  });

  it("Server tool calls are listed separately", async () => {
    const { provider } = await scripted(`
turns:
  - answer:
      - { server: get_order, input: { id: 7 }, result: { json: { state: paid } } }
      - It is paid.
`);
    const { toolCalls, serverToolCalls } = await runToCompletion(agentWith({ provider }), {
      prompt: "Is it?",
    });
    expect([toolCalls, serverToolCalls]).toMatchObject([
      [],
      [{ toolCall: { name: "get_order" }, result: { parts: [{ value: { state: "paid" } }] } }],
    ]);
  });

  it("Every event is reported in order, with the upstream session id before the first invocation [RMA-P1-27]", async () => {
    const { provider } = await scripted("turns: [{ answer: Hello. }]");
    const seen: Envelope[] = [];
    const result = await runToCompletion(agentWith({ provider }), {
      prompt: "Hello",
      onEvent: (envelope) => seen.push(envelope),
    });
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map((_, at) => at + 1));
    expect(new Set(seen.map(({ sessionId }) => sessionId))).toEqual(new Set([result.sessionId]));
    const types = seen.map(({ event }) => event.type);
    expect(types.indexOf("upstream.opened")).toBeGreaterThan(-1);
    expect(types.indexOf("upstream.opened")).toBeLessThan(types.indexOf("invocation.started"));
    expect(types.at(-1)).toBe("turn.finished");
  });

  it("Two runs of one agent share nothing [RMA-P1-27]", async () => {
    const { provider, requests } = await scripted("{ repeat: true, turns: [{ answer: Hello. }] }");
    const agent = agentWith({ provider });
    const before = JSON.stringify(agent.spec);
    const [one, other] = await Promise.all([
      runToCompletion(agent, { prompt: "one", caps: { steps: 1 } }),
      runToCompletion(agent, { prompt: "other" }),
    ]);
    expect([one.outcome, other.outcome]).toEqual(["completed", "completed"]);
    expect(one.sessionId).not.toBe(other.sessionId);
    expect(requests.map(({ messages }) => messages.length)).toEqual([1, 1]);
    expect(JSON.stringify(agent.spec)).toBe(before);
  });
});

describe("Approvals in a run", () => {
  const ask = async (options: Parameters<typeof runToCompletion>[1]) => {
    const { provider } = await scripted(REFUND);
    const ran: unknown[] = [];
    const refund = tool("refund", (input) => {
      ran.push(input);
      return "paid";
    });
    const agent = defineAgent({ name: "test", provider, tools: [refund] });
    return { ...(await runToCompletion(agent, options)), ran };
  };

  it("The caller decides an approval and sees the tool and its arguments", async () => {
    const requests: ApprovalRequested[] = [];
    const { ran, finalText } = await ask({
      prompt: "refund 7",
      async approve(request) {
        requests.push(request);
        return "allow";
      },
    });
    const options = ["allow", "allow-always", "deny"];
    expect(requests).toMatchObject([
      { question: "run", action: "refund", input: { order: 7 }, options },
    ]);
    expect([ran, finalText]).toEqual([[{ order: 7 }], "Done."]);
  });

  it.each([
    ["the caller has no approve function", {}],
    ["the caller denies it", { approve: async () => "deny" as const }],
    [
      "the caller fails",
      {
        approve: async () => {
          throw new Error("no time");
        },
      },
    ],
    ["the caller returns an invalid decision", { approve: async () => "continue" as const }],
  ])("A tool call is denied if %s, and the agent is notified [W-07]", async (_, options) => {
    const {
      ran,
      outcome,
      finalText,
      toolCalls: calls,
    } = await ask({ prompt: "refund 7", ...options });
    expect([ran, outcome, finalText]).toEqual([[], "completed", "Then I leave it."]);
    expect(calls).toMatchObject([{ ending: "denied", result: { isError: true } }]);
  });

  it("An approval may change the arguments, and a denial may have a reason for the agent", async () => {
    const changed = await ask({
      prompt: "refund 7",
      approve: async () => ({ decision: "allow", input: { order: 8 } }),
    });
    expect([changed.ran, changed.finalText]).toEqual([[{ order: 8 }], "Done."]);
    const denied = await ask({
      prompt: "refund 7",
      approve: async () => ({ decision: "deny", reason: "Order 7 is not paid" }),
    });
    expect(denied.toolCalls).toMatchObject([{ ending: "denied" }]);
    expect(JSON.stringify(denied.toolCalls)).toContain("Order 7 is not paid");
  });

  it.each([
    [
      {},
      'TypeError: missing is not a valid decision for "refund": expected allow, allow-always, deny',
    ],
    [
      { decision: "allow", input: [7] },
      'TypeError: The input of the decision for "refund" is an array: expected an object',
    ],
    [
      { decision: "allow", reason: 7 },
      'TypeError: The reason of the decision for "refund" is 7: expected a string',
    ],
  ])("A tool call is denied if the decision is %j", async (answer, message) => {
    const reported: unknown[] = [];
    const report = (error: unknown): void => void reported.push(String(error));
    const { ran } = await ask({ prompt: "refund 7", approve: async () => Object(answer), report });
    expect([ran, reported]).toEqual([[], [message]]);
  });

  it("An invalid decision is reported to the caller", async () => {
    const reported: unknown[] = [];
    const report = (error: unknown): void => void reported.push(String(error));
    await ask({ prompt: "refund 7", approve: async () => "done", report });
    const expected = "expected allow, allow-always, deny";
    expect(reported).toEqual([
      `TypeError: "done" is not a valid decision for "refund": ${expected}`,
    ]);
  });

  it("A run whose invocation is lost fails if the caller does not decide [RMA-P1-11]", async () => {
    const { provider, requests } = await scripted(`
turns:
  - answer: This answer is on its way when its connection breaks.
    faults: { resetAtByte: 600 }
  - answer: The rest of it.
`);
    const agent = agentWith({ provider });
    const failed = await runToCompletion(agent, { prompt: "Go" });
    expect(failed).toMatchObject({ outcome: "failed", failure: { code: "connection_lost" } });
    expect(failed.text).toMatch(/^This answer/);
    expect(requests.length).toBe(1);
  });

  it("The caller can continue in the same session after a lost invocation", async () => {
    const { provider } = await scripted(`
turns:
  - answer: This answer is on its way when its connection breaks.
    faults: { resetAtByte: 600 }
  - answer: The rest of it.
`);
    const questions: string[] = [];
    const result = await runToCompletion(agentWith({ provider }), {
      prompt: "Go",
      async approve({ question }) {
        questions.push(question);
        return "continue";
      },
    });
    expect([questions, result.outcome, result.finalText]).toEqual([
      ["lost-invocation"],
      "completed",
      "The rest of it.",
    ]);
  });
});

describe("Failures in a run", () => {
  it("A tool error reaches the model as a message only, and the caller in full [RMA-P1-19]", async () => {
    const { provider, requests } = await scripted(REFUND);
    const reported: unknown[] = [];
    const thrown = new Error("The order is closed");
    const agent = agentWith({
      provider,
      tools: [
        tool("refund", () => {
          throw thrown;
        }),
      ],
    });
    const {
      outcome,
      toolCalls: calls,
      finalText,
    } = await runToCompletion(agent, {
      prompt: "refund 7",
      report: (error) => reported.push(error),
    });
    expect([outcome, finalText]).toEqual(["completed", "Then I leave it."]);
    expect(calls).toMatchObject([
      {
        ending: "failed",
        result: {
          isError: true,
          parts: [{ type: "text", text: "refund failed: The order is closed" }],
        },
      },
    ]);
    expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain(import.meta.filename);
    expect(reported).toEqual([expect.objectContaining({ cause: thrown })]);
  });

  it("An invalid argument is reported to the model by its path, and the tool does not run", async () => {
    const { provider, requests } = await scripted(REFUND);
    const refund = defineTool({
      name: "refund",
      description: "Pays back",
      input: z.object({ order: z.string() }),
      run: () => expect.unreachable(),
    });
    const { toolCalls: calls } = await runToCompletion(agentWith({ provider, tools: [refund] }), {
      prompt: "refund 7",
    });
    expect(calls).toMatchObject([{ ending: "refused", result: { isError: true } }]);
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("order: ");
  });

  it("A refusal by the provider is a failed result with its cause [RMA-P1-11]", async () => {
    const { provider } = await scripted(
      "turns: [{ refuse: { type: AccessDeniedException, message: Not you } }]",
    );
    const result = await runToCompletion(agentWith({ provider }), { prompt: "Go" });
    expect(result).toMatchObject({
      outcome: "failed",
      text: "",
      failure: { code: "access_denied", message: expect.stringContaining("Not you") },
      steps: 1,
    });
  });

  it("A turn that fails midway is a failed result with its partial text [RMA-P1-11]", async () => {
    const { provider } = await scripted(`
turns: [{ answer: [I am about to, { fail: { type: InternalServerException, message: Oops } }] }]
`);
    const result = await runToCompletion(agentWith({ provider }), { prompt: "Go" });
    expect(result).toMatchObject({ outcome: "failed", text: "I am about to" });
    expect(result.failure?.message).toContain("Oops");
  });

  it("A run that cannot start throws", async () => {
    const { provider, requests } = await scripted("turns: [{ answer: Hello. }]");
    const agent = agentWith({ provider });
    await expect(runToCompletion(agent, { prompt: " " })).rejects.toMatchObject({
      code: "invalid_message",
    });
    await expect(
      runToCompletion(agent, { prompt: "Go", caps: { steps: 0 } }),
    ).rejects.toMatchObject({ code: "invalid_option", details: { path: "caps.steps" } });
    await expect(
      runToCompletion(agent, { prompt: "Go", stopAtTerminalTool: true }),
    ).rejects.toMatchObject({ code: "invalid_option" });
    const untyped = { prompt: "Go", guard: JSON.parse('"no function"') };
    await expect(runToCompletion(agent, untyped)).rejects.toMatchObject({
      code: "invalid_option",
    });
    expect(requests).toEqual([]);
  });

  it.each([
    ["prompt", {}, "invalid_message"],
    ["prompt", { prompt: 7 }, "invalid_message"],
    ["prompt", { prompt: " " }, "invalid_message"],
    ["", undefined, "invalid_option"],
    ["", "Go", "invalid_option"],
    ["aprove", { prompt: "Go", aprove: async () => "allow" }, "invalid_option"],
    ["approve", { prompt: "Go", approve: "allow" }, "invalid_option"],
    ["onEvent", { prompt: "Go", onEvent: {} }, "invalid_option"],
    ["report", { prompt: "Go", report: true }, "invalid_option"],
    ["signal", { prompt: "Go", signal: "now" }, "invalid_option"],
    ["signal", { prompt: "Go", signal: new AbortController() }, "invalid_option"],
    ["clock", { prompt: "Go", clock: { now: () => 0 } }, "invalid_option"],
    ["workingDirectory", { prompt: "Go", workingDirectory: 7 }, "invalid_option"],
    ["stopAtTerminalTool", { prompt: "Go", stopAtTerminalTool: "yes" }, "invalid_option"],
    ["caps.step", { prompt: "Go", caps: { step: 1 } }, "invalid_option"],
    ["caps.steps", { prompt: "Go", caps: { steps: "1" } }, "invalid_option"],
  ])("A run throws with the path %j for the options %j", async (path, options, code) => {
    const { provider, requests } = await scripted("turns: [{ answer: Hello. }]");
    const untyped: never = options as never;
    const running = runToCompletion(agentWith({ provider }), untyped);
    await expect(running).rejects.toMatchObject({ code, details: { path } });
    expect(requests).toEqual([]);
  });

  it.each([undefined, {}, "demo"])("A run throws for %j in place of an agent", async (agent) => {
    const untyped: never = agent as never;
    await expect(runToCompletion(untyped, { prompt: "Go" })).rejects.toMatchObject({
      code: "invalid_option",
      details: { path: "agent" },
    });
  });

  it("A run throws if its session fails, and does not hang [RMA-P1-11]", async () => {
    const { provider } = await scripted(REFUND);
    const cause = new SpanlineError("store_damaged", "The log cannot be read");
    let isBroken = false;
    const clock = {
      ...systemClock,
      monotonic() {
        if (isBroken) throw cause;
        return systemClock.monotonic();
      },
    };
    const refund = tool("refund", () => (isBroken = true));
    const running = runToCompletion(agentWith({ provider, tools: [refund] }), {
      prompt: "refund 7",
      clock,
    });
    await expect(running).rejects.toMatchObject({ code: "aborted", cause });
  });

  it("An error of onEvent is thrown unchanged, and no further invocation is made", async () => {
    const { provider, requests } = await scripted(REFUND);
    const agent = agentWith({ provider, tools: [tool("refund", () => "paid")] });
    const running = runToCompletion(agent, {
      prompt: "refund 7",
      onEvent({ event }) {
        if (event.type === "text.finished") throw new RangeError("mine");
      },
    });
    await expect(running).rejects.toThrow(new RangeError("mine"));
    expect(requests.length).toBeLessThanOrEqual(2);
  });
});
