import { describe, expect, it } from "vitest";
import { hangs, says, scriptedProvider, wants } from "../support/scripted-provider.ts";
import { agentOf, tool, worldOf } from "../support/session-world.ts";

describe("a command's id", () => {
  it("gives the reply that the command got, and is refused for another command", async () => {
    const provider = scriptedProvider([says("One."), says("Two.")]);
    const world = await worldOf(agentOf({ provider }));
    const prompt = (text: string) =>
      world.send({ type: "prompt", content: [{ type: "text", text }] }, { commandId: "k" });
    const first = await prompt("First");
    await world.event("turn.finished");
    expect(await prompt("First")).toEqual(first);
    expect(await prompt("Something else")).toMatchObject({
      status: "refused",
      failure: { code: "conflict" },
    });
    expect(provider.calls).toHaveLength(1);
  });
});

describe("rules that changed while a tool was running", () => {
  it.each([
    ["ask", { deny: [], ask: ["read"], allow: [], otherwise: "allow" }],
    ["deny", { deny: ["read"], ask: [], allow: [], otherwise: "allow" }],
  ] as const)("hold for its next attempt too: %s", async (_, approvals) => {
    let runs = 0;
    const read = tool({ name: "read", idempotent: true }, async () => {
      runs += 1;
      await new Promise(() => {});
    });
    const provider = scriptedProvider([wants({ id: "c1", name: "read" }), hangs()]);
    const first = await worldOf(agentOf({ provider, tools: [read] }));
    await first.prompt("Read it");
    await first.event("tool.started");
    const second = await first.restart(agentOf({ provider, tools: [read], approvals }));
    expect(await second.event("approval.requested")).toMatchObject({ question: "outcome" });
    expect(runs).toBe(1);
  });
});
