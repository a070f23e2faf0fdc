import { describe, expect, it } from "vitest";
import { toolSuccess } from "../../src/domain/tool.ts";
import { fakeClock, passing } from "../support/fake-clock.ts";
import {
  breaks,
  hangs,
  refuses,
  says,
  scriptedProvider,
  wants,
  type Answer,
} from "../support/scripted-provider.ts";
import {
  agentOf,
  tool,
  worldOf,
  type AgentParts,
  type WorldOptions,
} from "../support/session-world.ts";

const work = tool({ name: "work" }, () => "done");

/** A session whose agent knows nothing but what a call brings. */
async function forgetful(
  answers: readonly Answer[],
  parts: Partial<AgentParts> = {},
  options: WorldOptions = {},
) {
  const provider = scriptedProvider(answers, { keepsHistory: false, effectFree: true });
  const agent = agentOf({ provider, tools: [work], onLost: "resend", ...parts });
  const world = await worldOf(agent, options);
  return { provider, world };
}

const user = (...texts: readonly string[]) => ({
  role: "user",
  blocks: texts.map((text) => ({ type: "text", text })),
});
const assistant = (text: string) => ({ role: "assistant", blocks: [{ type: "text", text }] });
const LET_ME_SEE = {
  role: "assistant",
  blocks: [{ type: "text" }, { type: "call", call: { id: "c1" } }],
};
const DONE = { role: "user", blocks: [{ type: "result", result: toolSuccess("c1", "done") }] };

describe("an agent that remembers nothing", () => {
  it("is told with every call all that was said before it", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      says("Yes."),
      says("No."),
    ]);
    await world.prompt("One");
    await world.event("turn.finished");
    await world.prompt("Two");
    await world.event("turn.finished", 2);
    expect(provider.calls).toMatchObject([
      { history: [], input: { type: "prompt", texts: ["One"] } },
      { history: [user("One")], input: { type: "results", results: [toolSuccess("c1", "done")] } },
      {
        history: [user("One"), LET_ME_SEE, DONE, assistant("Yes.")],
        input: { type: "prompt", texts: ["Two"] },
      },
    ]);
  });

  it("is told the same by the next process, which has only the log", async () => {
    const { world } = await forgetful([wants({ id: "c1", name: "work" }), says("Yes.")]);
    await world.prompt("One");
    await world.event("turn.finished");
    const provider = scriptedProvider([says("No.")], { keepsHistory: false, effectFree: true });
    const next = await world.restart(agentOf({ provider, tools: [work] }));
    await next.prompt("Two");
    await next.event("turn.finished", 2);
    expect(provider.calls).toMatchObject([
      { history: [user("One"), LET_ME_SEE, DONE, assistant("Yes.")] },
    ]);
  });

  it("has nothing to come to rest after a cancel, and is told what was said until then", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      hangs("I thi"),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.event("text.delta", 2);
    await world.cancel();
    await world.prompt("Two");
    await world.event("turn.finished", 2);
    expect(provider.calls[2]).toMatchObject({
      history: [user("One"), LET_ME_SEE, DONE, assistant("I thi")],
      input: { type: "prompt", texts: ["Two"] },
    });
    expect(provider.stopped).toEqual([]);
    expect(await world.events("upstream.settled")).toEqual([]);
    expect(await world.events("upstream.opened")).toHaveLength(1);
    const origins = (await world.events("message.sent")).map(({ origin }) => origin);
    expect(origins).toEqual(["prompt", "prompt"]);
  });

  it("is asked the same again where an answer was lost, without what was lost", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      breaks(),
      says("Yes."),
    ]);
    await world.prompt("One");
    expect(await world.event("turn.finished")).toMatchObject({ outcome: "completed" });
    const [, lost, again] = provider.calls;
    expect(again?.input).toEqual(lost?.input);
    expect(again?.history).toEqual(lost?.history);
    expect(await world.events("call.lost")).toHaveLength(1);
  });

  it("is told what was turned away before, in its order, when it is heard at last", async () => {
    const { provider, world } = await forgetful([
      wants({ id: "c1", name: "work" }),
      refuses("throttled"),
      refuses("throttled"),
      says("Yes."),
      says("No."),
    ]);
    for (const [index, text] of ["One", "Two", "Three", "Four"].entries()) {
      await world.prompt(text);
      await world.event("turn.finished", index + 1);
    }
    const [, , , third, fourth] = provider.calls;
    expect(third).toMatchObject({
      history: [user("One")],
      input: { type: "results", results: [toolSuccess("c1", "done")], texts: ["Two", "Three"] },
    });
    expect(fourth).toMatchObject({
      history: [user("One"), LET_ME_SEE, DONE, user("Two"), user("Three"), assistant("Yes.")],
      input: { texts: ["Four"] },
    });
  });

  it("that is busy is given time all the same", async () => {
    const clock = fakeClock();
    const { provider, world } = await forgetful([refuses("conflict"), says("Yes.")], {}, { clock });
    await world.prompt("One");
    await passing(clock, world.event("turn.finished"));
    expect(provider.calls).toHaveLength(2);
    expect(await world.events("upstream.settled")).toHaveLength(1);
  });
});

describe("where a turn stands", () => {
  const call = (id: string, at: number) => wants({ id, name: "work", input: { at } });

  it("is told to whoever runs the loop here: steps that are left, calls that were answered", async () => {
    const { provider, world } = await forgetful(
      [call("c1", 1), call("c2", 2), says("Yes."), says("No.")],
      { caps: { steps: 3 } },
    );
    await world.prompt("One");
    await world.event("turn.finished");
    await world.prompt("Two");
    await world.event("turn.finished", 2);
    const one = { call: { id: "c1", input: { at: 1 } }, result: toolSuccess("c1", "done") };
    const two = { call: { id: "c2", input: { at: 2 } }, result: toolSuccess("c2", "done") };
    expect(provider.calls.map(({ turn }) => turn)).toMatchObject([
      { callsLeft: 3, answered: [] },
      { callsLeft: 2, answered: [one] },
      { callsLeft: 1, answered: [one, two] },
      { callsLeft: 3, answered: [] },
    ]);
  });

  it("names the tool that has to end it, until that did its work", async () => {
    let tries = 0;
    const finish = tool({ name: "finish" }, () => {
      tries += 1;
      if (tries === 1) throw new Error("not yet");
      return "done";
    });
    const { provider, world } = await forgetful(
      [wants({ id: "f1", name: "finish" }), wants({ id: "f2", name: "finish" }), says("Yes.")],
      { tools: [finish], terminalTool: { name: "finish", maxReprompts: 1 } },
    );
    await world.prompt("One");
    await world.event("turn.finished");
    const named = provider.calls.map(({ turn }) => turn?.terminalTool);
    expect(named).toEqual(["finish", "finish", undefined]);
  });

  it("counts no call that was lost with its message: the agent does not know of it", async () => {
    const cut: Answer = async function* (signal, seen) {
      for await (const event of call("c1", 1)(signal, seen)) {
        if (event.type === "message.end") return;
        yield event;
      }
    };
    const { provider, world } = await forgetful([cut, says("Yes.")]);
    await world.prompt("One");
    await world.event("turn.finished");
    expect(await world.events("tool.finished")).toMatchObject([{ ending: "cancelled" }]);
    expect(provider.calls[1]?.turn).toEqual({ callsLeft: 19, answered: [] });
  });

  it("is not told to those whose loop runs elsewhere", async () => {
    const provider = scriptedProvider([says("Yes.")]);
    const world = await worldOf(agentOf({ provider }));
    await world.prompt("One");
    await world.event("turn.finished");
    expect(provider.calls).toEqual([
      { sessionId: expect.any(String), history: [], input: { type: "prompt", texts: ["One"] } },
    ]);
  });
});
