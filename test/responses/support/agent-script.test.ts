import { describe, expect, it } from "vitest";
import { createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";
import { asAnswer, type AgentTurn } from "./agent-script.ts";

const ran = { id: "tooluse_1", name: "look_up", input: { query: "shoes" }, result: "[]" };

async function worldWith(turns: readonly AgentTurn[], interrupted = () => {}) {
  const provider = createScriptedProvider(turns.map((turn) => asAnswer(turn, interrupted)));
  const weather = createTool({ name: "get_weather" }, () => "18 degrees");
  return openWorld(createAgent({ provider, tools: [weather] }));
}

describe("Scripted agent turns", () => {
  it("A scripted turn can run a tool and send a message", async () => {
    const world = await worldWith([{ runs: [ran], says: "No shoes were found." }]);
    await world.prompt("Any shoes?");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(JSON.stringify(await world.readLog())).toMatch(/look_up[^]*No shoes were found\./);
  });

  it("A scripted turn can call a client tool and continue with its result", async () => {
    const call = { id: "tooluse_1", name: "get_weather" };
    const world = await worldWith([{ calls: [call] }, { says: "It is 18 degrees." }]);
    await world.prompt("How warm is it?");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      steps: 2,
    });
  });

  it("A scripted turn can hang until it is interrupted", async () => {
    let isInterrupted = false;
    const world = await worldWith([{ says: "Well", hangs: true }], () => (isInterrupted = true));
    await world.prompt("Go");
    await world.waitForEvent("turn.started");
    await world.waitForEvent("invocation.started");
    await world.cancel();
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "cancelled" });
    expect(isInterrupted).toBe(true);
  });
});
