import { describe, expect, it } from "vitest";
import { defineAgent, defineTool, runToCompletion } from "../../../src/index.ts";
import { localProvider } from "../../../src/providers/index.ts";
import {
  cuts,
  DIALECTS,
  says,
  startModelServer,
  wants,
} from "../../support/server/model-server.ts";
import { linesOf } from "./local-world.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  run: () => "seen",
});

describe.each(DIALECTS)("runToCompletion over a model with the dialect %s", (dialect) => {
  it("A run completes from its prompt through its tools with the public functions only", async () => {
    const server = await startModelServer(dialect, [
      wants({ id: "c1", name: "look" }),
      says("Seen."),
    ]);
    const agent = defineAgent({
      name: "local",
      provider: localProvider({ model: server.createModel() }),
      tools: [look],
      approvals: { allow: ["*"] },
      onLost: "resend",
    });
    expect(agent.spec.provider).toEqual({
      name: "local",
      injectionPoints: ["turn-start", "tool-results", "turn-end"],
      capabilities: {
        instructions: true,
        tools: true,
        allowedTools: true,
        maxOutputTokens: true,
        images: true,
      },
      effectFree: true,
      canStop: false,
      keepsHistory: false,
    });
    const result = await runToCompletion(agent, { prompt: "Look" });
    expect(result).toMatchObject({
      outcome: "completed",
      finalText: "Seen.",
      toolCalls: [{ toolCall: { name: "look" }, result: { isError: false } }],
      steps: 2,
    });
    expect(server.modelRequests.map(linesOf).at(-1)).toEqual([
      "user: Look",
      "assistant: Let me see.",
      "call c1: look {}",
      "result c1: seen",
    ]);
  });

  it("A run whose model responses are all truncated ends at its step cap", async () => {
    const server = await startModelServer(dialect, [cuts({ text: "Once" })]);
    const agent = defineAgent({
      name: "local",
      provider: localProvider({ model: server.createModel() }),
      onLost: "resend",
      caps: { steps: 3 },
    });
    const { outcome, reason } = await runToCompletion(agent, { prompt: "Tell me" });
    expect([outcome, reason]).toEqual(["limited", "max_steps"]);
    expect(server.modelRequests).toHaveLength(3);
  });
});
