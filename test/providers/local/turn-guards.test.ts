import { describe, expect, it } from "vitest";
import type { LocalGuards } from "../../../src/providers/local/turn-guards.ts";
import { DIALECTS, says, wants, type ScriptedResponse } from "../../support/server/model-server.ts";
import {
  createTool,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { linesOf, localWorld } from "./local-world.ts";

const look = (id: string, at: unknown) => ({ id, name: "look", input: { at, near: true } });
/** The same arguments in another key order. */
const lookAgain = (id: string, at: unknown) => ({ id, name: "look", input: { near: true, at } });

/** A session with the tools `look`, which fails on request, and `hear`. */
async function guarded(
  dialect: (typeof DIALECTS)[number],
  answers: readonly ScriptedResponse[],
  guards?: LocalGuards,
  parts: Partial<AgentParts> = {},
) {
  const ran: string[] = [];
  const run = (name: string) =>
    createTool({ name }, (input) => {
      ran.push(`${name} ${JSON.stringify(input["at"])}`);
      if (input["fails"] === true) throw new Error("dark");
      return "seen";
    });
  const local = guards === undefined ? {} : { guards };
  const made = await localWorld(dialect, answers, {
    tools: [run("look"), run("hear")],
    local,
    ...parts,
  });
  return { ...made, ran };
}

async function turnOf(world: SessionWorld, nth = 1): Promise<readonly [string, string | null]> {
  const { outcome, reason } = await world.waitForEvent("turn.finished", nth);
  return [outcome, reason];
}

const hooksOf = async (world: SessionWorld) =>
  (await world.listEvents("hook.fired")).map(({ name, decision }) => `${name} ${decision}`);

describe.each(DIALECTS)("The repeated-call guard over a model with the dialect %s", (dialect) => {
  const earlier =
    /^result c2: look was not run again: you called it with the same arguments earlier/;

  it("A repeated tool call is answered without running, while new tool calls run [RMA-P1-23]", async () => {
    const { world, server, ran } = await guarded(dialect, [
      wants(look("c1", "it")),
      wants(lookAgain("c2", "it"), { id: "c3", name: "hear", input: { at: "it" } }),
      says("Yes."),
    ]);
    await world.prompt("One");
    expect((await turnOf(world))[0]).toBe("completed");
    expect(ran).toEqual(['look "it"', 'hear "it"']);
    expect(linesOf(server.modelRequests[2] ?? { messages: [] }).slice(-4)).toEqual([
      expect.stringMatching(/^call c2: look/),
      expect.stringMatching(/^call c3: hear/),
      expect.stringMatching(earlier),
      "result c3: seen",
    ]);
    expect((await world.listEvents("tool.finished")).map(({ ending }) => ending)).toEqual([
      "succeeded",
      "server",
      "succeeded",
    ]);
    expect(await world.listEvents("hook.fired")).toMatchObject([
      {
        name: "repeated-call",
        decision: "not-run",
        reason: "A call of look has the same arguments as an answered call of this turn",
      },
    ]);
  });

  it("A message with only repeated tool calls leads to another model request at once [RMA-P0-8]", async () => {
    const { world, server, ran } = await guarded(dialect, [
      wants(look("c1", "it")),
      wants(look("c2", "it"), lookAgain("c3", "it")),
      says("Yes."),
    ]);
    await world.prompt("One");
    expect((await turnOf(world))[0]).toBe("completed");
    expect(ran).toEqual(['look "it"']);
    expect(server.modelRequests).toHaveLength(3);
    expect(await world.listEvents("invocation.started")).toHaveLength(2);
    expect(linesOf(server.modelRequests[2] ?? { messages: [] })).toEqual([
      "user: One",
      "assistant: Let me see.",
      expect.stringMatching(/^call c1/),
      "result c1: seen",
      "assistant: Let me see.",
      expect.stringMatching(/^call c2/),
      expect.stringMatching(/^call c3/),
      expect.stringMatching(earlier),
      expect.stringMatching(/^result c3: look was not run again/),
    ]);
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      usage: { inputTokens: 30, outputTokens: 15 },
    });
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    // The logged messages are the messages of the next request.
    expect(linesOf(server.modelRequests[3] ?? { messages: [] })).toEqual([
      ...linesOf(server.modelRequests[2] ?? { messages: [] }),
      "assistant: Yes.",
      "user: Two",
    ]);
  });

  it("A turn with only repeated tool calls ends after some rounds [RMA-P0-8]", async () => {
    const { world, server, ran } = await guarded(
      dialect,
      [
        wants(look("c1", "it")),
        ...["c2", "c3", "c4"].map((id) => wants(look(id, "it"))),
        says("Yes."),
      ],
      { repeatedCalls: { rounds: 2 } },
    );
    await world.prompt("One");
    expect(await turnOf(world)).toEqual(["limited", "repeated_calls"]);
    expect(server.modelRequests).toHaveLength(3);
    expect(ran).toEqual(['look "it"']);
    await world.prompt("Two");
    expect((await turnOf(world, 2))[0]).toBe("completed");
  });

  it("A tool call repeated in one message runs once, and other arguments run each time [RMA-P1-23]", async () => {
    const { world, server, ran } = await guarded(dialect, [
      wants(look("c1", "it"), lookAgain("c2", "it"), look("c3", "that")),
      says("Yes."),
    ]);
    await world.prompt("One");
    expect((await turnOf(world))[0]).toBe("completed");
    expect(ran).toEqual(['look "it"', 'look "that"']);
    expect(linesOf(server.modelRequests[1] ?? { messages: [] }).slice(-3)).toEqual([
      "result c1: seen",
      expect.stringMatching(/^result c2: look was not run again: another call in the same message/),
      "result c3: seen",
    ]);
    expect(await hooksOf(world)).toEqual(["repeated-call not-run"]);
  });

  it("A tool call may be repeated in the next turn", async () => {
    const { world, ran } = await guarded(dialect, [
      wants(look("c1", "it")),
      says("Yes."),
      wants(look("c2", "it")),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    expect(ran).toEqual(['look "it"', 'look "it"']);
  });

  it("The next process knows earlier tool calls from the log", async () => {
    const { world, ran, agent } = await guarded(
      dialect,
      [
        wants(look("c1", "it")),
        wants({ id: "c2", name: "hear", input: { at: "it" } }),
        wants(look("c3", "it")),
        says("Yes."),
      ],
      undefined,
      { approvals: { deny: [], ask: ["hear"], allow: ["look"], default: "ask" } },
    );
    await world.prompt("One");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const next = await world.restart(agent());
    await next.decideApproval(approvalId, "allow");
    expect((await turnOf(next))[0]).toBe("completed");
    expect(ran).toEqual(['look "it"', 'hear "it"']);
    expect(await hooksOf(next)).toEqual(["repeated-call not-run"]);
  });

  it.each([
    ["up to the configured number", { repeatedCalls: { most: 2 } }, 2],
    ["always if its tool is exempt", { repeatedCalls: { exempt: ["lo*"] } }, 3],
    ["always if the guard is off", { repeatedCalls: false }, 3],
  ] as const)("A repeated tool call runs %s", async (_, guards, times) => {
    const { world, ran } = await guarded(
      dialect,
      [wants(look("c1", "it")), wants(look("c2", "it")), wants(look("c3", "it")), says("Yes.")],
      guards,
    );
    await world.prompt("One");
    expect((await turnOf(world))[0]).toBe("completed");
    expect(ran).toHaveLength(times);
  });
});

describe.each(DIALECTS)("The failing-tool guard over a model with the dialect %s", (dialect) => {
  const failing = (id: string, at: number) => ({ ...look(id, at), input: { at, fails: true } });
  const corrective =
    "user: look has failed 2 times in a row. Read its error before you call it again: change the arguments, or continue without it.";

  it("Two failures in a row are pointed out to the model and logged", async () => {
    const { world, server } = await guarded(dialect, [
      wants(failing("c1", 1)),
      wants(failing("c2", 2)),
      says("I give up."),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    const correctedRequests = server.modelRequests.map((request) =>
      linesOf(request).includes(corrective),
    );
    expect(correctedRequests).toEqual([false, false, true, false]);
    expect(linesOf(server.modelRequests[2] ?? { messages: [] }).at(-1)).toBe(corrective);
    expect(await world.listEvents("hook.fired")).toMatchObject([
      { name: "failing-tool", decision: "told", reason: corrective.slice("user: ".length) },
    ]);
  });

  it("A success between two failures resets the count", async () => {
    const { world } = await guarded(dialect, [
      wants(failing("c1", 1)),
      wants(look("c2", 2)),
      wants(failing("c3", 3)),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    expect(await hooksOf(world)).toEqual([]);
  });

  it("A repeated tool call that was answered without running does not count", async () => {
    const { world } = await guarded(
      dialect,
      [
        wants(failing("c1", 1)),
        wants(failing("c2", 1), { id: "c3", name: "hear" }),
        wants(failing("c4", 2)),
        says("Yes."),
      ],
      { failingTools: { after: 3 } },
    );
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    expect(await hooksOf(world)).toEqual(["repeated-call not-run"]);
  });

  it.each([
    [{ failingTools: { after: 3 } }, [3]],
    [{ failingTools: { after: 1 } }, [1, 2, 3]],
    [{ failingTools: false }, []],
  ] as const)("The guard acts after as many failures as %j says", async (guards, after) => {
    const { world, server } = await guarded(
      dialect,
      [wants(failing("c1", 1)), wants(failing("c2", 2)), wants(failing("c3", 3)), says("Yes.")],
      guards,
    );
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    const correctedTimes = server.modelRequests.flatMap((request, times) =>
      linesOf(request).some((line) => line.includes(`look has failed ${times} times`))
        ? [times]
        : [],
    );
    expect(correctedTimes).toEqual(after);
  });
});

describe.each(DIALECTS)("The last-steps guard over a model with the dialect %s", (dialect) => {
  const finishing = { terminalTool: { name: "hear", maxReprompts: 1 } };

  it("The last step before the cap is announced to the model and logged", async () => {
    const { world, server } = await guarded(
      dialect,
      [wants(look("c1", 1)), wants(look("c2", 2)), says("Yes.")],
      undefined,
      { caps: { steps: 3 } },
    );
    await world.prompt("One");
    expect((await turnOf(world))[0]).toBe("completed");
    const directive =
      "This is the last step of this turn: you will not receive any further tool result. Give your final answer now, with what you have.";
    expect(
      server.modelRequests.map((request) => linesOf(request).at(-1) === `user: ${directive}`),
    ).toEqual([false, false, true]);
    expect(await world.listEvents("hook.fired")).toMatchObject([
      { name: "last-steps", stage: "before-model", decision: "told", reason: directive },
    ]);
  });

  it("The tool that has to end the turn is named until it has run", async () => {
    const { world, server } = await guarded(
      dialect,
      [wants(look("c1", 1)), wants({ id: "c2", name: "hear" }), says("Yes.")],
      { lastSteps: { within: 2 } },
      { caps: { steps: 3 }, ...finishing },
    );
    await world.prompt("One");
    expect((await turnOf(world))[0]).toBe("completed");
    const last = server.modelRequests.map((request) => linesOf(request).at(-1));
    expect(last).toEqual([
      "user: One",
      "user: This turn has 2 steps left, including this one. Call hear now, with what you have.",
      expect.stringMatching(/Give your final answer now/),
    ]);
  });

  it("Nothing is announced if the guard is off or the agent has no tools", async () => {
    for (const [guards, parts] of [
      [{ lastSteps: false }, {}],
      [undefined, { tools: [] }],
    ] as const) {
      const caps = { steps: 1 };
      const { world } = await guarded(dialect, [says("Yes.")], guards, { caps, ...parts });
      await world.prompt("One");
      await world.waitForEvent("turn.finished");
      expect(await hooksOf(world)).toEqual([]);
    }
  });
});
