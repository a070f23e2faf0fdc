import { describe, expect, it } from "vitest";
import type { Agent } from "../../src/session/agent.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Examined } from "../../src/tools/tool.ts";
import { policyOf } from "../support/policy.ts";
import { says, scriptedProvider, wants } from "../support/scripted-provider.ts";
import { ME, sessionsOn, tool, worldOf } from "../support/session-world.ts";
import { CALL, inside, resultsIn, writing } from "../support/writing-agent.ts";

/** An agent that can be made another one while its session goes on. */
function changeable(agent: Agent) {
  let tell: (now: Agent) => void = () => undefined;
  const live: Agent = {
    ...agent,
    open: async ({ changed }) => {
      tell = changed;
      return { agent, close: async () => undefined };
    },
  };
  return { live, change: (now: Agent) => tell(now) };
}

/** A store that does something when an event of a type is in the log, and before anybody is told. */
function storeWith(type: string, then: () => void): Store {
  const store = memoryStore();
  return {
    ...store,
    append: async (lease, after, entry) => {
      const appended = await store.append(lease, after, entry);
      if (entry.events.some(({ event }) => event.type === type)) then();
      return appended;
    },
  };
}

/** The same tool by name, and another by what it says of itself; what it is run with goes to the list. */
function otherWrite(ran: unknown[]) {
  const { traits } = writing("ask").write.facts;
  const described = { name: "write", description: "Deletes everything" };
  return tool({ ...described, ...(traits !== undefined && { traits }) }, (input) => {
    ran.push({ other: input });
    return "gone";
  });
}

describe("an agent that changes while its session goes on", () => {
  it("leaves a question open that has nothing to do with it, with all its answers", async () => {
    const { agent, write, ran } = writing("ask");
    const { live, change } = changeable(agent());
    const world = await worldOf(live);
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    change(agent({ tools: [write, tool({ name: "read" }, () => "text")] }));
    await world.event("agent.bound", 2);
    expect(await world.answer(approvalId, "allow-always")).toEqual({ status: "accepted" });
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.events("grant.given")).toMatchObject([{ approvalId }]);
    expect(await world.events("approval.requested")).toHaveLength(1);
  });

  it("has the question about a tool asked anew that is another one now: a yes is for what was shown [W-02]", async () => {
    const { agent, ran } = writing("ask");
    const { live, change } = changeable(agent());
    const world = await worldOf(live);
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    change(agent({ tools: [otherWrite(ran)] }));
    const asked = await world.event("approval.requested", 2);
    expect(await world.answer(approvalId, "allow")).toMatchObject({ status: "refused" });
    expect(ran).toEqual([]);
    await world.answer(asked.approvalId, "allow");
    await world.event("turn.finished");
    expect(ran).toEqual([{ other: CALL.input }]);
    expect(await world.events("approval.resolved")).toMatchObject([
      { approvalId, by: "change" },
      { approvalId: asked.approvalId, by: "person" },
    ]);
  });

  it("has asked anew what was allowed and waited for its place, where the tool is another one now", async () => {
    const provider = scriptedProvider([wants({ id: "c0", name: "wait" }, CALL), says("Well.")]);
    let end: (text: string) => void = () => undefined;
    const wait = tool({ name: "wait" }, () => new Promise((resolve) => (end = resolve)));
    const rules = policyOf([
      ["wait", "allow"],
      ["write", "ask"],
    ]);
    const parts = { provider, caps: { parallelTools: 1 }, policy: rules };
    const { agent, write, ran } = writing("ask", parts);
    const { live, change } = changeable(agent({ tools: [wait, write] }));
    const world = await worldOf(live);
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    await world.event("tool.started");
    await world.answer(approvalId, "allow");
    change(agent({ tools: [wait, otherWrite(ran)] }));
    await world.event("agent.bound", 2);
    end("waited");
    await world.event("approval.requested", 2);
    expect(ran).toEqual([]);
  });

  it("does not run a tool that was taken away while it waited for its place", async () => {
    const provider = scriptedProvider([wants({ id: "c0", name: "wait" }, CALL), says("Well.")]);
    let end: (text: string) => void = () => undefined;
    const wait = tool({ name: "wait" }, () => new Promise((resolve) => (end = resolve)));
    const policy = policyOf([["*", "allow"]]);
    const { agent, write, ran } = writing("allow", {
      provider,
      caps: { parallelTools: 1 },
      policy,
    });
    const { live, change } = changeable(agent({ tools: [wait, write] }));
    const world = await worldOf(live);
    await world.prompt("Write.");
    await world.event("policy.decided", 2);
    change(agent({ tools: [wait] }));
    await world.event("agent.bound", 2);
    end("waited");
    await world.event("turn.finished");
    expect(ran).toEqual([]);
    expect(resultsIn(provider.calls[1]?.input).at(-1)).toMatchObject({
      parts: [{ text: "write was not run: it is not there any more." }],
    });
  });

  it("never runs another tool than the one that was judged: not between its start in the log and its run [W-02]", async () => {
    const { agent, ran, provider } = writing("ask");
    const { live, change } = changeable(agent());
    const other = agent({ tools: [otherWrite(ran)] });
    const world = await worldOf(live, { store: storeWith("tool.started", () => change(other)) });
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    await world.answer(approvalId, "allow");
    await world.event("turn.finished");
    expect(ran).toEqual([]);
    expect(resultsIn(provider.calls[1]?.input)).toMatchObject([
      {
        parts: [
          {
            text: "write was not run: the tool, or the rules about it, changed as it was to start. Call it again if it is still wanted.",
          },
        ],
      },
    ]);
  });

  it("judges a tool by new rules that come between its start in the log and its run", async () => {
    const { agent, ran, provider } = writing("allow");
    const { live, change } = changeable(agent());
    const strict = agent({ policy: policyOf([["write", "deny"]]) });
    const world = await worldOf(live, { store: storeWith("tool.started", () => change(strict)) });
    await world.prompt("Write.");
    await world.event("turn.finished");
    expect(ran).toEqual([]);
    expect(await world.events("tool.finished")).toMatchObject([{ ending: "denied" }]);
    const text =
      "write was not run: the rules of this session do not allow it. The policy (rules, entry 1) denies write";
    expect(resultsIn(provider.calls[1]?.input)).toMatchObject([{ parts: [{ text }] }]);
    expect((await world.events("policy.decided")).at(-1)).toMatchObject({
      agent: strict.digest,
      decision: { action: "deny" },
    });
  });

  it("runs a tool that stayed what it was, and says by which rules", async () => {
    const { agent, write, ran } = writing("allow");
    const { live, change } = changeable(agent());
    const more = agent({ tools: [write, tool({ name: "read" }, () => "text")] });
    const world = await worldOf(live, { store: storeWith("tool.started", () => change(more)) });
    await world.prompt("Write.");
    await world.event("turn.finished");
    expect(ran).toEqual([{ input: CALL.input, paths: [inside("tea.md")] }]);
    expect(await world.events("tool.started")).toHaveLength(1);
    expect((await world.events("policy.decided")).at(-1)).toMatchObject({ agent: more.digest });
  });

  it("is asked anew where paths lead, when it changes while that is looked at", async () => {
    const { agent, ran } = writing("allow");
    let found: (examined: Examined) => void = () => undefined;
    let looking: () => void = () => undefined;
    const isLooking = new Promise<void>((resolve) => (looking = resolve));
    const slow = agent({
      examine: () => {
        looking();
        return new Promise((resolve) => (found = resolve));
      },
    });
    const { live, change } = changeable(slow);
    const world = await worldOf(live);
    await world.prompt("Write.");
    await isLooking;
    change(agent({ caps: { steps: 7 } }));
    await world.event("tool.examined");
    found({ paths: [{ ...inside("tea.md"), workspacePath: "elsewhere.md" }] });
    await world.event("turn.finished");
    expect(ran).toEqual([{ input: CALL.input, paths: [inside("tea.md")] }]);
    expect(await world.events("tool.examined")).toHaveLength(1);
  });

  it("is closed, once, when the sessions are closed while it is opened", async () => {
    const { agent } = writing("allow");
    let open: () => void = () => undefined;
    let opening: () => void = () => undefined;
    const isOpening = new Promise<void>((resolve) => (opening = resolve));
    let closed = 0;
    const slow: Agent = {
      ...agent(),
      open: async () => {
        opening();
        await new Promise<void>((resolve) => (open = resolve));
        return { agent: agent(), close: async () => void (closed += 1) };
      },
    };
    const store = memoryStore();
    const sessions = sessionsOn(store, slow);
    const opened = sessions.open({ principal: ME });
    await isOpening;
    const isClosed = sessions.close();
    open();
    const { sessionId } = await opened;
    await isClosed;
    expect(closed).toBe(1);
    const next = await store.acquire(sessionId, { owner: "next", now: Date.now(), forMs: 1 });
    expect(next.lease.sessionId).toBe(sessionId);
  });

  it("is not opened for long when the sessions were closed just before", async () => {
    const { agent } = writing("allow");
    const store = memoryStore();
    let look: () => void = () => undefined;
    let looking: () => void = () => undefined;
    const isLooking = new Promise<void>((resolve) => (looking = resolve));
    const slow: Store = {
      ...store,
      session: async (sessionId) => {
        looking();
        await new Promise<void>((resolve) => (look = resolve));
        return store.session(sessionId);
      },
    };
    const reluctant: Agent = {
      ...agent(),
      open: async ({ signal }) => {
        signal?.throwIfAborted();
        throw new Error("Nobody told it to end");
      },
    };
    const sessions = sessionsOn(slow, reluctant);
    const opened = sessions.open({ principal: ME, sessionId: "ses_1" });
    await isLooking;
    const isClosed = sessions.close();
    look();
    await expect(opened).rejects.toMatchObject({ code: "aborted" });
    await isClosed;
  });
});
