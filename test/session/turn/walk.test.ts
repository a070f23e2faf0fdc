import { describe, expect, it, onTestFinished } from "vitest";
import { emulate, TEST_CREDENTIALS } from "../../../src/emulator/index.ts";
import { harnessProvider } from "../../../src/providers/agentcore/harness-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";

describe("A session with the emulator's demo agent", () => {
  it("A prompt leads through an approved tool to the end of the turn", async () => {
    const emulator = await emulate();
    onTestFinished(() => emulator.close());
    const { demoArn: harnessArn, url: endpoint } = emulator;
    const provider = harnessProvider({ harnessArn, endpoint, credentials: TEST_CREDENTIALS });
    const ran: unknown[] = [];
    const properties = { city: { type: "string" } };
    const schema = { type: "object", properties, required: ["city"] };
    const description = "Tells the weather of a city";
    const weather = createTool({ name: "weather", description, schema }, (input) => {
      ran.push(input);
      return "sunny";
    });
    const approvals = { deny: [], ask: ["weather"], allow: [], default: "deny" } as const;
    const world = await openWorld(createAgent({ provider, tools: [weather], approvals }));
    const reply = await world.prompt("What is the weather in Paris?");
    expect(reply).toEqual({
      status: "accepted",
      seq: expect.any(Number),
      promptId: expect.stringMatching(/^prompt_/),
      turnId: expect.stringMatching(/^turn_/),
    });
    const { approvalId, action, input } = await world.waitForEvent("approval.requested");
    expect({ action, input, ran }).toEqual({
      action: "weather",
      input: { city: expect.any(String) },
      ran: [],
    });
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "waiting" });
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([input]);
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "idle" });
    const log = await world.readLog();
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    const steps = log.map(({ event }) => event.type).filter((type) => !type.endsWith(".delta"));
    expect(steps).toEqual([
      "session.opened",
      "agent.configured",
      "prompt.accepted",
      "turn.started",
      "message.sent",
      "upstream.opened",
      "invocation.started",
      "message.started",
      "text.finished",
      "tool_call.opened",
      "tool_call.received",
      "message.finished",
      "usage.reported",
      "invocation.finished",
      "policy.decided",
      "approval.requested",
      "approval.resolved",
      "tool.started",
      "tool.finished",
      "invocation.started",
      "message.started",
      "text.finished",
      "message.finished",
      "usage.reported",
      "invocation.finished",
      "turn.finished",
    ]);
  });
});
