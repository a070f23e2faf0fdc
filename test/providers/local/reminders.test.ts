import { describe, expect, it } from "vitest";
import type { Reminder } from "../../../src/domain/reminder.ts";
import { DIALECTS, says, wants } from "../../support/server/model-server.ts";
import { createTool, type SessionWorld } from "../../support/session/session-world.ts";
import { linesOf, localWorld } from "./local-world.ts";

const REMINDER: Reminder = {
  body: "Use tabs.",
  tags: [],
  mode: "finish_step",
  roleHint: "system",
  authority: "contract",
  source: "bridge",
  propagate: "session",
};

function remind(world: SessionWorld, fields: Partial<Reminder>) {
  return world.send({ type: "remind", reminder: { ...REMINDER, ...fields } });
}

async function runTurn(world: SessionWorld, text: string, nth: number): Promise<void> {
  await world.prompt(text);
  await world.waitForEvent("turn.finished", nth);
}

describe.each(DIALECTS)("Reminders of a model with the dialect %s", (dialect) => {
  it("A delivered reminder leaves the requests when its turns are over, and stays without a limit [B-180] [ACP-116]", async () => {
    const { world, server, agent } = await localWorld(dialect, [says("Yes.")]);
    await remind(world, { body: "For one turn.", ttlTurns: 1 });
    await runTurn(world, "One", 1);
    await remind(world, { body: "For two turns.", ttlTurns: 2 });
    await runTurn(world, "Two", 2);
    await remind(world, { body: "For all turns." });
    await runTurn(world, "Three", 3);
    const restarted = await world.restart(agent());
    await runTurn(restarted, "Four", 4);
    await runTurn(restarted, "Five", 5);
    const seen = server.modelRequests.map((request) => {
      const text = linesOf(request).join("\n");
      return ["one turn", "two turns", "all turns"].filter((words) => text.includes(words));
    });
    expect(seen).toEqual([
      ["one turn"],
      ["two turns"],
      ["two turns", "all turns"],
      ["all turns"],
      ["all turns"],
    ]);
    const last = linesOf(server.modelRequests.at(-1) ?? { messages: [] });
    expect(last.filter((line) => line.startsWith("user: "))).toEqual([
      "user: One",
      "user: Two",
      "user: Three",
      "user: <system-reminder>\nFor all turns.\n</system-reminder>",
      "user: Four",
      "user: Five",
    ]);
  });

  it("A reminder stays for all requests of its last turn, and its waiting time counts [B-180]", async () => {
    const look = createTool({ name: "look" }, () => "seen");
    const { world, server } = await localWorld(
      dialect,
      [says("First."), wants({ id: "c1", name: "look" }), says("Done."), says("Later.")],
      { tools: [look] },
    );
    const gone = await remind(world, { ttlTurns: 1, mode: "audit_only" });
    expect(gone).toMatchObject({ status: "accepted" });
    await runTurn(world, "Zero", 1);
    await remind(world, { ttlTurns: 1 });
    await runTurn(world, "One", 2);
    await runTurn(world, "Two", 3);
    const seen = server.modelRequests.map((request) =>
      linesOf(request).join("\n").includes("Use tabs."),
    );
    expect(seen).toEqual([false, true, true, false]);
  });

  it("Of several reminders in one request, the longest lifetime decides", async () => {
    const { world, server } = await localWorld(dialect, [says("Yes.")]);
    await remind(world, { body: "Short.", ttlTurns: 1 });
    await remind(world, { body: "Long.", ttlTurns: 2 });
    for (const [index, text] of ["One", "Two", "Three"].entries())
      await runTurn(world, text, index + 1);
    const seen = server.modelRequests.map((request) =>
      linesOf(request).join("\n").includes("Short."),
    );
    expect(seen).toEqual([true, true, false]);
  });
});
