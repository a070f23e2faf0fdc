import { describe, expect, it } from "vitest";
import { createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import {
  breaks,
  hangs,
  refuses,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
  type WorldOptions,
} from "../../support/session/session-world.ts";

const work = createTool({ name: "work" }, () => "done");

/** A session whose provider keeps no history. */
async function forgetful(
  answers: readonly ProviderScript[],
  parts: Partial<AgentParts> = {},
  options: WorldOptions = {},
) {
  const provider = createScriptedProvider(answers, { keepsHistory: false, effectFree: true });
  const agent = createAgent({ provider, tools: [work], onLost: "resend", ...parts });
  const world = await openWorld(agent, options);
  return { provider, world };
}

const user = (...texts: readonly string[]) => ({
  role: "user",
  blocks: texts.map((text) => ({ type: "text", text })),
});
const assistant = (text: string) => ({ role: "assistant", blocks: [{ type: "text", text }] });
const LET_ME_SEE = {
  role: "assistant",
  blocks: [{ type: "text" }, { type: "tool-call", toolCall: { id: "c1" } }],
};
const DONE = {
  role: "user",
  blocks: [{ type: "tool-result", result: createToolSuccess("c1", "done") }],
};

describe("A stateless provider", () => {
  it("Every invocation carries the whole conversation before it", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      says("Yes."),
      says("No."),
    ]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations).toMatchObject([
      { history: [], input: { type: "prompt", texts: ["One"] } },
      {
        history: [user("One")],
        input: { type: "results", results: [createToolSuccess("c1", "done")] },
      },
      {
        history: [user("One"), LET_ME_SEE, DONE, assistant("Yes.")],
        input: { type: "prompt", texts: ["Two"] },
      },
    ]);
  });

  it("The next process sends the same conversation from the log", async () => {
    const { world } = await forgetful([wants({ id: "c1", name: "work" }), says("Yes.")]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    const provider = createScriptedProvider([says("No.")], {
      keepsHistory: false,
      effectFree: true,
    });
    const next = await world.restart(createAgent({ provider, tools: [work] }));
    await next.prompt("Two");
    await next.waitForEvent("turn.finished", 2);
    expect(provider.invocations).toMatchObject([
      { history: [user("One"), LET_ME_SEE, DONE, assistant("Yes.")] },
    ]);
  });

  it("A cancel needs no settling, and the next invocation has the interrupted text", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      hangs("I thi"),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.waitForEvent("text.delta", 2);
    await world.cancel();
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations[2]).toMatchObject({
      history: [user("One"), LET_ME_SEE, DONE, assistant("I thi")],
      input: { type: "prompt", texts: ["Two"] },
    });
    expect(provider.stoppedSessions).toEqual([]);
    expect(await world.listEvents("upstream.settled")).toEqual([]);
    expect(await world.listEvents("upstream.opened")).toHaveLength(1);
    const origins = (await world.listEvents("message.sent")).map(({ origin }) => origin);
    expect(origins).toEqual(["prompt", "prompt"]);
  });

  it("After a lost response, the same input is sent again, without the lost text", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      breaks(),
      says("Yes."),
    ]);
    await world.prompt("One");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    const [, lost, again] = provider.invocations;
    expect(again?.input).toEqual(lost?.input);
    expect(again?.history).toEqual(lost?.history);
    expect(await world.listEvents("invocation.lost")).toHaveLength(1);
  });

  it("Input of rejected invocations is sent in order with the next accepted one", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      refuses("throttled"),
      refuses("throttled"),
      says("Yes."),
      says("No."),
    ]);
    for (const [index, text] of ["One", "Two", "Three", "Four"].entries()) {
      await world.prompt(text);
      await world.waitForEvent("turn.finished", index + 1);
    }
    const [, , , third, fourth] = provider.invocations;
    expect(third).toMatchObject({
      history: [user("One")],
      input: {
        type: "results",
        results: [createToolSuccess("c1", "done")],
        texts: ["Two", "Three"],
      },
    });
    expect(fourth).toMatchObject({
      history: [user("One"), LET_ME_SEE, DONE, user("Two"), user("Three"), assistant("Yes.")],
      input: { texts: ["Four"] },
    });
  });

  it("A busy stateless provider is still given time", async () => {
    const clock = createFakeClock();
    const { provider, world } = await forgetful([refuses("conflict"), says("Yes.")], {}, { clock });
    await world.prompt("One");
    await advanceUntil(clock, world.waitForEvent("turn.finished"));
    expect(provider.invocations).toHaveLength(2);
    expect(await world.listEvents("upstream.settled")).toHaveLength(1);
  });
});

describe("The progress of a turn", () => {
  const call = (id: string, at: number) => wants({ id, name: "work", input: { at } });

  it("A local provider gets the remaining invocations and the answered tool calls", async () => {
    const { provider, world } = await forgetful(
      [call("c1", 1), call("c2", 2), says("Yes."), says("No.")],
      { caps: { steps: 3 } },
    );
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    const one = {
      toolCall: { id: "c1", input: { at: 1 } },
      result: createToolSuccess("c1", "done"),
    };
    const two = {
      toolCall: { id: "c2", input: { at: 2 } },
      result: createToolSuccess("c2", "done"),
    };
    expect(provider.invocations.map(({ turn }) => turn)).toMatchObject([
      { remainingInvocations: 3, answeredToolCalls: [] },
      { remainingInvocations: 2, answeredToolCalls: [one] },
      { remainingInvocations: 1, answeredToolCalls: [one, two] },
      { remainingInvocations: 3, answeredToolCalls: [] },
    ]);
  });

  it("The progress names the terminal tool until it has succeeded", async () => {
    let tries = 0;
    const finish = createTool({ name: "finish" }, () => {
      tries += 1;
      if (tries === 1) throw new Error("not yet");
      return "done";
    });
    const { provider, world } = await forgetful(
      [wants({ id: "f1", name: "finish" }), wants({ id: "f2", name: "finish" }), says("Yes.")],
      { tools: [finish], terminalTool: { name: "finish", maxReprompts: 1 } },
    );
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    const named = provider.invocations.map(({ turn }) => turn?.terminalTool);
    expect(named).toEqual(["finish", "finish", undefined]);
  });

  it("A call lost with its message does not count as answered", async () => {
    const cut: ProviderScript = async function* (signal, seen) {
      for await (const event of call("c1", 1)(signal, seen)) {
        if (event.type === "message.end") return;
        yield event;
      }
    };
    const { provider, world } = await forgetful([cut, says("Yes.")]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "cancelled" }]);
    expect(provider.invocations[1]?.turn).toEqual({
      remainingInvocations: 19,
      answeredToolCalls: [],
    });
  });

  it("A remote provider does not get the progress", async () => {
    const provider = createScriptedProvider([says("Yes.")]);
    const world = await openWorld(createAgent({ provider }));
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    expect(provider.invocations).toEqual([
      { sessionId: expect.any(String), history: [], input: { type: "prompt", texts: ["One"] } },
    ]);
  });
});
