import { describe, expect, it } from "vitest";
import type { Agent } from "../../../src/session/runtime/agent/agent.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Examination } from "../../../src/tools/tool.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { ME, openSessions, createTool, openWorld } from "../../support/session/session-world.ts";
import {
  WRITE_CALL,
  createInsidePath,
  readResults,
  createWritingAgent,
} from "../../support/session/writing-agent.ts";

/** An agent which can be replaced while its session runs. */
function changeable(agent: Agent) {
  let tell: (now: Agent) => void = () => undefined;
  const live: Agent = {
    ...agent,
    open: async ({ onChange }) => {
      tell = onChange;
      return { agent, close: async () => undefined };
    },
  };
  return { live, change: (now: Agent) => tell(now) };
}

/** A store which calls a function when an event of a type is in the log, before the writer continues. */
function storeWith(type: string, then: () => void): Store {
  const store = createMemoryStore();
  return {
    ...store,
    append: async (lease, after, entry) => {
      const appended = await store.append(lease, after, entry);
      if (entry.events.some(({ event }) => event.type === type)) then();
      return appended;
    },
  };
}

/** A tool with the same name and another description; records its arguments. */
function otherWrite(ran: unknown[]) {
  const { traits } = createWritingAgent("ask").write.spec;
  const described = { name: "write", description: "Deletes everything" };
  return createTool({ ...described, ...(traits !== undefined && { traits }) }, (input) => {
    ran.push({ other: input });
    return "gone";
  });
}

describe("An agent that changes during its session", () => {
  it("An unrelated change leaves an approval request open with its votes", async () => {
    const { agent, write, ran } = createWritingAgent("ask");
    const { live, change } = changeable(agent());
    const world = await openWorld(live);
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    change(agent({ tools: [write, createTool({ name: "read" }, () => "text")] }));
    await world.waitForEvent("agent.configured", 2);
    expect(await world.decideApproval(approvalId, "allow-always")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("grant.added")).toMatchObject([{ approvalId }]);
    expect(await world.listEvents("approval.requested")).toHaveLength(1);
  });

  it("A request about a changed tool is made again, because an approval covers only the tool shown [W-02]", async () => {
    const { agent, ran } = createWritingAgent("ask");
    const { live, change } = changeable(agent());
    const world = await openWorld(live);
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    change(agent({ tools: [otherWrite(ran)] }));
    const approval = await world.waitForEvent("approval.requested", 2);
    expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
    expect(ran).toEqual([]);
    await world.decideApproval(approval.approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ other: WRITE_CALL.input }]);
    expect(await world.listEvents("approval.resolved")).toMatchObject([
      { approvalId, resolvedBy: "change" },
      { approvalId: approval.approvalId, resolvedBy: "person" },
    ]);
  });

  it("An approved call waiting to start is asked about again if its tool changed", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c0", name: "wait" }, WRITE_CALL),
      says("Well."),
    ]);
    let end: (text: string) => void = () => undefined;
    const wait = createTool({ name: "wait" }, () => new Promise((resolve) => (end = resolve)));
    const rules = createPolicy([
      ["wait", "allow"],
      ["write", "ask"],
    ]);
    const parts = { provider, caps: { parallelTools: 1 }, policy: rules };
    const { agent, write, ran } = createWritingAgent("ask", parts);
    const { live, change } = changeable(agent({ tools: [wait, write] }));
    const world = await openWorld(live);
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.waitForEvent("tool.started");
    await world.decideApproval(approvalId, "allow");
    change(agent({ tools: [wait, otherWrite(ran)] }));
    await world.waitForEvent("agent.configured", 2);
    end("waited");
    await world.waitForEvent("approval.requested", 2);
    expect(ran).toEqual([]);
  });

  it("A tool removed while its call waits to start does not run", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c0", name: "wait" }, WRITE_CALL),
      says("Well."),
    ]);
    let end: (text: string) => void = () => undefined;
    const wait = createTool({ name: "wait" }, () => new Promise((resolve) => (end = resolve)));
    const policy = createPolicy([["*", "allow"]]);
    const { agent, write, ran } = createWritingAgent("allow", {
      provider,
      caps: { parallelTools: 1 },
      policy,
    });
    const { live, change } = changeable(agent({ tools: [wait, write] }));
    const world = await openWorld(live);
    await world.prompt("Write.");
    await world.waitForEvent("policy.decided", 2);
    change(agent({ tools: [wait] }));
    await world.waitForEvent("agent.configured", 2);
    end("waited");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    expect(readResults(provider.invocations[1]?.input).at(-1)).toMatchObject({
      parts: [{ text: "write was not run: it is no longer available." }],
    });
  });

  it("A tool which changed between its logged start and its run never runs [W-02]", async () => {
    const { agent, ran, provider } = createWritingAgent("ask");
    const { live, change } = changeable(agent());
    const other = agent({ tools: [otherWrite(ran)] });
    const world = await openWorld(live, { store: storeWith("tool.started", () => change(other)) });
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    expect(readResults(provider.invocations[1]?.input)).toMatchObject([
      {
        parts: [
          {
            text: "write was not run: the tool or its rules changed just before it started. Call it again if it is still needed.",
          },
        ],
      },
    ]);
  });

  it("New rules apply between the logged start of a tool and its run", async () => {
    const { agent, ran, provider } = createWritingAgent("allow");
    const { live, change } = changeable(agent());
    const strict = agent({ policy: createPolicy([["write", "deny"]]) });
    const world = await openWorld(live, { store: storeWith("tool.started", () => change(strict)) });
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "denied" }]);
    const text =
      "write was not run: the rules of this session do not allow it. The policy (rules, entry 1) denies write";
    expect(readResults(provider.invocations[1]?.input)).toMatchObject([{ parts: [{ text }] }]);
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      agent: strict.digest,
      decision: { action: "deny" },
    });
  });

  it("An unchanged tool runs after a change of the agent, with a new receipt", async () => {
    const { agent, write, ran } = createWritingAgent("allow");
    const { live, change } = changeable(agent());
    const more = agent({ tools: [write, createTool({ name: "read" }, () => "text")] });
    const world = await openWorld(live, { store: storeWith("tool.started", () => change(more)) });
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ input: WRITE_CALL.input, paths: [createInsidePath("tea.md")] }]);
    expect(await world.listEvents("tool.started")).toHaveLength(1);
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({ agent: more.digest });
  });

  it("Paths are resolved again if the agent changes during their resolution", async () => {
    const { agent, ran } = createWritingAgent("allow");
    let found: (examined: Examination) => void = () => undefined;
    let looking: () => void = () => undefined;
    const isLooking = new Promise<void>((resolve) => (looking = resolve));
    const slow = agent({
      examine: () => {
        looking();
        return new Promise((resolve) => (found = resolve));
      },
    });
    const { live, change } = changeable(slow);
    const world = await openWorld(live);
    await world.prompt("Write.");
    await isLooking;
    change(agent({ caps: { steps: 7 } }));
    await world.waitForEvent("tool_call.paths_resolved");
    found({ paths: [{ ...createInsidePath("tea.md"), workspacePath: "elsewhere.md" }] });
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ input: WRITE_CALL.input, paths: [createInsidePath("tea.md")] }]);
    expect(await world.listEvents("tool_call.paths_resolved")).toHaveLength(1);
  });

  it("An agent being opened is closed once when the sessions close", async () => {
    const { agent } = createWritingAgent("allow");
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
    const store = createMemoryStore();
    const sessions = openSessions(store, slow);
    const opened = sessions.open({ principal: ME });
    await isOpening;
    const isClosed = sessions.close();
    open();
    const { sessionId } = await opened;
    await isClosed;
    expect(closed).toBe(1);
    const next = await store.acquire(sessionId, { owner: "next", now: Date.now(), durationMs: 1 });
    expect(next.lease.sessionId).toBe(sessionId);
  });

  it("Opening an agent is cancelled if the sessions have just closed", async () => {
    const { agent } = createWritingAgent("allow");
    const store = createMemoryStore();
    let look: () => void = () => undefined;
    let looking: () => void = () => undefined;
    const isLooking = new Promise<void>((resolve) => (looking = resolve));
    const slow: Store = {
      ...store,
      findSession: async (sessionId) => {
        looking();
        await new Promise<void>((resolve) => (look = resolve));
        return store.findSession(sessionId);
      },
    };
    const reluctant: Agent = {
      ...agent(),
      open: async ({ signal }) => {
        signal?.throwIfAborted();
        throw new Error("The opening was not cancelled");
      },
    };
    const sessions = openSessions(slow, reluctant);
    const opened = sessions.open({ principal: ME, sessionId: "ses_1" });
    await isLooking;
    const isClosed = sessions.close();
    look();
    await expect(opened).rejects.toMatchObject({ code: "aborted" });
    await isClosed;
  });
});
