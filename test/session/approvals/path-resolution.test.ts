import { describe, expect, it } from "vitest";
import type { ToolCallToExamine } from "../../../src/tools/tool.ts";
import { decide } from "../../../src/session/decide.ts";
import { findDueEffects } from "../../../src/session/due-effects.ts";
import { evolve } from "../../../src/session/evolve.ts";
import { initialState } from "../../../src/session/session-state.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  waitForAbort,
  says,
  createScriptedProvider,
  wants,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
} from "../../support/session/session-world.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import {
  WRITE_CALL,
  createInsidePath,
  neverResolves,
  listTypesSince,
  createWritingAgent,
} from "../../support/session/writing-agent.ts";

/** Signals the start of an operation. */
function happens() {
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => void (begin = resolve));
  return {
    begun,
    begin:
      <Given extends readonly unknown[], Made>(work: (...given: Given) => Made) =>
      (...args: Given): Made => {
        begin();
        return work(...args);
      },
  };
}

describe("The paths of a tool call", () => {
  it("Paths are resolved, logged, evaluated and passed to the tool, in this order", async () => {
    const { agent, ran, looked } = createWritingAgent("allow");
    const world = await openWorld(agent());
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    expect(await listTypesSince(world, "invocation.finished")).toEqual([
      "tool_call.paths_resolved",
      "policy.decided",
      "tool.started",
      "tool.finished",
    ]);
    const paths = [createInsidePath("tea.md")];
    const { digest } = await world.waitForEvent("tool_call.paths_resolved");
    expect(await world.listEvents("tool_call.paths_resolved")).toMatchObject([{ paths }]);
    expect(await world.listEvents("policy.decided")).toMatchObject([
      { digest, decision: { action: "allow", context: { tool: "write", paths } } },
    ]);
    expect(await world.listEvents("tool.started")).toMatchObject([{ digest }]);
    expect(ran).toEqual([{ input: WRITE_CALL.input, paths }]);
    const { name, input } = WRITE_CALL;
    expect(looked).toMatchObject([{ name, input, paths: [{ argument: "path", input: "tea.md" }] }]);
  });

  it("An approver sees the resolved paths and the diff", async () => {
    const diffs = [{ path: "tea.md", oldText: null, newText: "Tea" }];
    const evidence = [{ kind: "file", ref: "tea.md", metadata: { bytes: 3 } }];
    const examine = async () => ({ paths: [createInsidePath("tea.md")], diffs, evidence });
    const world = await openWorld(createWritingAgent("ask", { examine }).agent());
    await world.prompt("Write.");
    const approval = await world.waitForEvent("approval.requested");
    const { decision } = await world.waitForEvent("policy.decided");
    expect(approval).toMatchObject({ diffs, evidence, decision, approvers: 1 });
    expect(decision.context.paths).toEqual([createInsidePath("tea.md")]);
  });

  it("Resolved paths are kept after a restart, without a second resolution [B-110]", async () => {
    const { agent, ran, looked } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.waitForEvent("approval.requested");

    const world = await killed.restart(agent({ examine: () => Promise.reject(new Error("Gone")) }));
    expect(await world.decideApproval(approvalId, "allow")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ input: WRITE_CALL.input, paths: [createInsidePath("tea.md")] }]);
    expect(looked.length).toBe(1);
  });

  it.each(["allow", "ask", "deny"] as const)(
    "With the paths in the log, the log alone decides %s on every replay [B-110]",
    async (action) => {
      const world = await openWorld(createWritingAgent(action).agent());
      await world.prompt("Write.");
      await world.waitForEvent("policy.decided");
      const log = await world.readLog();
      const at = log.findIndex(({ event }) => event.type === "tool_call.paths_resolved");
      const state = log.slice(0, at + 1).reduce(evolve, initialState);
      expect([...findDueEffects(state).effects.values()]).toEqual([]);
      const recovered = { type: "recovery-started", epoch: 2, at: state.at, seed: "0" } as const;
      const { events } = decide(state, recovered);
      expect(events[0]?.event).toMatchObject({ type: "session.recovered" });
      expect(events[1]?.event).toEqual(log[at + 1]?.event);
      expect(events[1]?.event).toMatchObject({ type: "policy.decided", decision: { action } });
    },
  );

  it.each<[string, Partial<AgentParts>, string]>([
    [
      "throws",
      { examine: () => Promise.reject(new Error("The disk is gone")) },
      "The disk is gone",
    ],
    ["omits the path", { examine: async () => ({ paths: [] }) }, "it was not resolved"],
    [
      "returns another path",
      { examine: async () => ({ paths: [createInsidePath("other.md")] }) },
      "it was not resolved",
    ],
  ])("A path is invalid and the call denied if the resolver %s", async (_, parts, reason) => {
    const { agent, ran } = createWritingAgent("allow", parts);
    const world = await openWorld(agent());
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    const { decision } = await world.waitForEvent("policy.decided");
    const lost = { location: "invalid", workspacePath: null, hostPath: null, reason };
    expect(decision.context.paths).toEqual([{ argument: "path", input: "tea.md", ...lost }]);
    expect(decision.action).toBe("deny");
    expect(ran).toEqual([]);
  });

  it("A path is invalid if its resolution times out", async () => {
    const clock = createFakeClock();
    const look = happens();
    const { agent } = createWritingAgent("allow", { examine: look.begin(neverResolves) });
    const world = await openWorld(agent(), { clock });
    await world.prompt("Write.");
    await look.begun;
    clock.advance(30_000);
    const { decision } = await world.waitForEvent("policy.decided");
    const reason = "It could not be resolved within 30 seconds";
    expect(decision).toMatchObject({
      action: "deny",
      context: { paths: [{ location: "invalid", reason }] },
    });
  });

  it("A path is invalid for an agent without a resolver", async () => {
    const { agent, ran } = createWritingAgent("allow");
    const { resolvePaths: _, ...blind } = agent();
    const world = await openWorld(blind);
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    const reason = "The agent has no workspace";
    expect(await world.listEvents("policy.decided")).toMatchObject([
      { decision: { action: "deny", context: { paths: [{ location: "invalid", reason }] } } },
    ]);
    expect(ran).toEqual([]);
  });

  it("A cancel aborts path resolution, and a late result is ignored", async () => {
    const signals: AbortSignal[] = [];
    const look = happens();
    const examine = look.begin(async ({ signal }: ToolCallToExamine) => {
      signals.push(signal);
      await waitForAbort(signal);
      return { paths: [createInsidePath("tea.md")] };
    });
    const { agent, ran } = createWritingAgent("allow", { examine });
    const world = await openWorld(agent());
    await world.prompt("Write.");
    await look.begun;
    await world.cancel();
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "cancelled" });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "cancelled" });
    await world.prompt("Again.");
    await world.waitForEvent("turn.finished", 2);
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    expect([await world.listEvents("tool_call.paths_resolved"), ran]).toEqual([[], []]);
  });

  it("Path resolution interrupted by a kill is repeated", async () => {
    const { agent, ran, looked } = createWritingAgent("allow");
    const look = happens();
    const killed = await openWorld(agent({ examine: look.begin(neverResolves) }));
    await killed.prompt("Write.");
    await look.begun;

    const world = await killed.restart(agent());
    await world.waitForEvent("turn.finished");
    expect([looked.length, ran.length]).toEqual([1, 1]);
  });
});

describe("The receipt of a policy decision", () => {
  const decided = async (action: "allow" | "deny") => {
    const { agent, ran } = createWritingAgent(action);
    const bound = agent();
    const world = await openWorld(bound);
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    const { toolCallId } = await world.waitForEvent("tool_call.received");
    const { digest } = await world.waitForEvent("tool_call.paths_resolved");
    expect(await world.listEvents("policy.decided")).toEqual([
      {
        type: "policy.decided",
        toolCallId,
        digest,
        agent: bound.digest,
        decision: {
          action,
          reason: expect.any(String),
          rule: expect.objectContaining({ source: "rules", action, id: null, index: 0 }),
          labels: expect.any(Array),
          approvers: 0,
          context: expect.objectContaining({
            tool: "write",
            kind: "edit",
            sideEffect: "workspace_write",
            paths: [createInsidePath("tea.md")],
            repeats: 0,
          }),
        },
      },
    ]);
    return { started: await world.listEvents("tool.started"), toolCallId, digest, ran };
  };

  it("The receipt is logged before an allowed call starts, with all evaluated facts [B-108]", async () => {
    const { started, toolCallId, digest, ran } = await decided("allow");
    expect(started).toEqual([{ type: "tool.started", toolCallId, attempt: 1, digest }]);
    expect(ran).toHaveLength(1);
  });

  it("The receipt of a denied call is logged, and the call does not run [B-109]", async () => {
    const { started, ran } = await decided("deny");
    expect([started, ran]).toEqual([[], []]);
  });

  it.each([
    ["allows it [B-108]", "allow"],
    ["denies it [B-109]", "deny"],
    ["does not decide in time [B-109]", "nothing"],
  ] as const)(
    "The decision is copied into the record of an approver who %s",
    async (_, content) => {
      const clock = createFakeClock();
      const world = await openWorld(createWritingAgent("ask").agent(), { clock });
      await world.prompt("Write.");
      const { approvalId, deadline } = await world.waitForEvent("approval.requested");
      const { decision: receipt } = await world.waitForEvent("policy.decided");
      if (content === "nothing") clock.advance(deadline - clock.now());
      else await world.decideApproval(approvalId, content);
      expect(await world.waitForEvent("approval.resolved")).toEqual({
        type: "approval.resolved",
        approvalId,
        decision: content === "nothing" ? "deny" : content,
        resolvedBy: content === "nothing" ? "deadline" : "person",
        receipt,
      });
    },
  );

  it("The receipt has no paths for an agent with approval lists only", async () => {
    const call = { id: "c1", name: "send", input: { target: { name: "tea.md" } } };
    const provider = createScriptedProvider([wants(call), says("Well.")]);
    const world = await openWorld(
      createAgent({ provider, tools: [createTool({ name: "send" }, () => "sent")] }),
    );
    await world.prompt("Send.");
    const { decision } = await world.waitForEvent("policy.decided");
    expect(decision.context).toEqual({
      tool: "send",
      kind: "other",
      sideEffect: "network",
      capabilities: [],
      paths: [],
      repeats: 0,
    });
  });

  it("The receipt counts earlier identical calls", async () => {
    const again = { ...WRITE_CALL, id: "c2" };
    const elsewhere = { ...WRITE_CALL, id: "c3", input: { path: "other.md" } };
    const provider = createScriptedProvider([
      wants(WRITE_CALL, again, elsewhere),
      wants({ ...WRITE_CALL, id: "c4" }),
      says("Well."),
    ]);
    const world = await openWorld(createWritingAgent("allow", { provider }).agent());
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    const decided = await world.listEvents("policy.decided");
    expect(decided.map(({ decision }) => decision.context.repeats)).toEqual([0, 1, 0, 2]);
  });

  it("Identical calls are counted across hundreds of others", async () => {
    const looks = Array.from({ length: 300 }, (_, at) => ({
      id: `l${at}`,
      name: "look",
      input: { at },
    }));
    const provider = createScriptedProvider([
      wants(WRITE_CALL),
      wants(...looks),
      wants({ ...WRITE_CALL, id: "c2" }),
      says("Well."),
    ]);
    const look = createTool({ name: "look" }, () => "seen");
    const { agent, write, ran } = createWritingAgent("allow", { provider });
    const once = { default: "allow", repeatLimit: 1, repeatAction: "deny" } as const;
    const caps = { toolCalls: 1000, parallelTools: 300 };
    const world = await openWorld(
      agent({ tools: [look, write], policy: createPolicy([], once), caps }),
    );
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect((await world.listEvents("tool.finished")).at(-1)).toMatchObject({ ending: "denied" });
  });
});
