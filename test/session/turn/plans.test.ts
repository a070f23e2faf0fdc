import { describe, expect, it } from "vitest";
import type { PlanEntry } from "../../../src/domain/outputs/plan.ts";
import { createToolOutput } from "../../../src/domain/tools/tool-output.ts";
import { createUpdatePlanTool } from "../../../src/tools/runtime/plan-tools.ts";
import {
  hangs,
  says,
  createScriptedProvider,
  wants,
} from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";

const LOOKING = [
  { content: "Look", status: "in_progress", priority: "high" },
  { content: "Write", status: "pending" },
];
const WRITING = [
  { content: "Look", status: "completed", priority: "high" },
  { content: "Write", status: "completed" },
];

const plan = (id: string, entries: unknown) => ({
  id,
  name: "update_plan",
  input: JSON.parse(JSON.stringify({ entries })),
});

function whole(entries: readonly object[]): readonly object[] {
  return entries.map((entry) => ({ priority: "medium", ...entry }));
}

describe("Plans from tools", () => {
  it("A plan is logged as a whole with each update, and kept [ACP-93]", async () => {
    const provider = createScriptedProvider([
      wants(plan("c1", LOOKING)),
      wants(plan("c2", WRITING)),
      says("Done."),
    ]);
    const world = await openWorld(createAgent({ provider, tools: [createUpdatePlanTool()] }));
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("plan.updated")).toEqual([
      { type: "plan.updated", entries: whole(LOOKING), plan: expect.anything() },
      { type: "plan.updated", entries: whole(WRITING), plan: expect.anything() },
    ]);
    const [finished] = await world.listEvents("tool.finished");
    expect(finished).not.toHaveProperty("attachments");
  });

  it.each(["completed", "cancelled"] as const)(
    "No plan entry is in progress after the turn has %s [ACP-93]",
    async (outcome) => {
      const last = outcome === "completed" ? says("Later.") : hangs();
      const provider = createScriptedProvider([wants(plan("c1", LOOKING)), last]);
      const world = await openWorld(createAgent({ provider, tools: [createUpdatePlanTool()] }));
      await world.prompt("Go.");
      if (outcome === "cancelled") {
        await world.waitForEvent("invocation.started", 2);
        await world.cancel();
      }
      expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome });
      const [, rested, ...more] = await world.listEvents("plan.updated");
      expect(rested?.entries.map(({ status }) => status)).toEqual(["pending", "pending"]);
      expect(more).toEqual([]);
      const types = (await world.readLog()).map(({ event }) => event.type);
      expect(types.lastIndexOf("plan.updated")).toBeLessThan(types.indexOf("turn.finished"));
    },
  );

  it("A plan from any tool is read leniently, because tools are third-party code", async () => {
    const planEntries: unknown = [
      { content: "Wait", status: "blocked", priority: "low", secret: "x" },
      { content: "x".repeat(5000), status: "strange" },
      { content: "" },
      null,
    ];
    const own = createTool({ name: "own" }, () =>
      createToolOutput({ text: "ok", plan: planEntries as readonly PlanEntry[] }),
    );
    const provider = createScriptedProvider([wants({ id: "c1", name: "own" }), says("Done.")]);
    const world = await openWorld(createAgent({ provider, tools: [own] }));
    await world.prompt("Go.");
    expect(await world.waitForEvent("plan.updated")).toEqual({
      type: "plan.updated",
      entries: [
        { content: "Wait", status: "blocked", priority: "low" },
        { content: "x".repeat(1000), status: "pending", priority: "medium" },
      ],
    });
  });

  it("A plan call with invalid arguments is not logged, and the model gets the reason", async () => {
    const provider = createScriptedProvider([
      wants(plan("c1", [{ content: "Look", status: "maybe" }])),
      says("Well."),
    ]);
    const world = await openWorld(createAgent({ provider, tools: [createUpdatePlanTool()] }));
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("plan.updated")).toEqual([]);
    expect(JSON.stringify(provider.invocations[1]?.input)).toContain("its arguments are wrong");
  });
});
