import { describe, expect, it } from "vitest";
import { defineAgent, defineTool, runToCompletion } from "../../../src/index.ts";
import { localProvider } from "../../../src/providers/index.ts";
import { cuts, DIALECTS, says, startModel, wants } from "../../support/model-server.ts";
import { linesOf } from "./local-world.ts";

const look = defineTool({
  name: "look",
  description: "Looks",
  input: { type: "object" },
  run: () => "seen",
});

describe.each(DIALECTS)("a run of an agent over a model that speaks %s", (dialect) => {
  it("goes from a prompt over its tools to the end, with the public functions alone", async () => {
    const server = await startModel(dialect, [wants({ id: "c1", name: "look" }), says("Seen.")]);
    const agent = defineAgent({
      name: "local",
      provider: localProvider({ model: server.model() }),
      tools: [look],
      approvals: { allow: ["*"] },
      onLost: "resend",
    });
    expect(agent.facts.provider).toEqual({
      name: "local",
      seams: ["turn-start", "tool-results", "turn-end"],
      takes: {
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
      calls: [{ call: { name: "look" }, result: { isError: false } }],
      steps: 2,
    });
    expect(server.asked.map(linesOf).at(-1)).toEqual([
      "user: Look",
      "assistant: Let me see.",
      "call c1: look {}",
      "result c1: seen",
    ]);
  });

  it("ends at its cap when every answer is cut off, and asks no more often", async () => {
    const server = await startModel(dialect, [cuts({ text: "Once" })]);
    const agent = defineAgent({
      name: "local",
      provider: localProvider({ model: server.model() }),
      onLost: "resend",
      caps: { steps: 3 },
    });
    const { outcome, reason } = await runToCompletion(agent, { prompt: "Tell me" });
    expect([outcome, reason]).toEqual(["limited", "max_steps"]);
    expect(server.asked).toHaveLength(3);
  });
});
