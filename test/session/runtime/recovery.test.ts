import { describe, expect, it } from "vitest";
import type { ApprovalDecision } from "../../../src/domain/policy/approval-decision.ts";
import { createToolError, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import type { InvocationInput } from "../../../src/providers/provider.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  breaks,
  hangs,
  says,
  createScriptedProvider,
  wants,
} from "../../support/session/scripted-provider.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import {
  createAgent,
  ME,
  createTool,
  openWorld,
  type AgentParts,
} from "../../support/session/session-world.ts";

const never = (): Promise<never> => new Promise(() => undefined);

function resultsIn(input: InvocationInput | undefined) {
  return input?.type === "results" ? input.results : [];
}

const USER = { role: "user", blocks: [{ type: "text", text: "One" }] } as const;

describe("A session whose bridge was killed", () => {
  it("A resumed session has its pending tool calls and their results so far [RMA-P1-10] [ACP-91]", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "work" }, { id: "c2", name: "send" }),
      says("Both."),
    ]);
    const ran: string[] = [];
    const work = createTool({ name: "work" }, () => ran.push("work"));
    const send = createTool({ name: "send" }, () => ran.push("send"));
    const approvals = { deny: [], ask: ["send"], allow: ["*"], default: "ask" } as const;
    const agent = createAgent({ provider, tools: [work, send], approvals });
    const killed = await openWorld(agent);
    await killed.prompt("Go.");
    await killed.waitForEvent("tool.finished");
    const { approvalId } = await killed.waitForEvent("approval.requested");

    const world = await killed.restart();
    expect(await world.listEvents("approval.requested")).toMatchObject([{ approvalId }]);
    expect(await world.decideApproval(approvalId, "allow")).toEqual({ status: "accepted" });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      steps: 2,
    });
    expect(ran).toEqual(["work", "send"]);
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolSuccess("c1", 1),
      createToolSuccess("c2", 2),
    ]);
  });

  it("An interrupted idempotent tool runs again with the same key", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "read" }), says("Read.")]);
    const attempts: unknown[] = [];
    const read = createTool({ name: "read", idempotent: true }, (_, context) => {
      const { attempt, idempotencyKey } = context;
      attempts.push({ attempt, idempotencyKey });
      context.progress("reading");
      return attempt === 1 ? never() : "text";
    });
    const killed = await openWorld(createAgent({ provider, tools: [read] }));
    await killed.prompt("Read.");
    const { toolCallId } = await killed.waitForEvent("tool.progress");

    const world = await killed.restart();
    await world.waitForEvent("turn.finished");
    expect(attempts).toEqual([
      { attempt: 1, idempotencyKey: toolCallId },
      { attempt: 2, idempotencyKey: toolCallId },
    ]);
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([createToolSuccess("c1", "text")]);
  });

  const lost = "send was running when the bridge was killed.";
  const unknown = "Whether it did its work is not known: look before you call it again.";
  it.each<[ApprovalDecision | "nothing", number, ReturnType<typeof createToolError>]>([
    [
      "done",
      1,
      createToolSuccess("c1", "send did its work; its output was lost when the bridge was killed."),
    ],
    ["failed", 1, createToolError("c1", "send failed when the bridge was killed.")],
    ["run-again", 2, createToolSuccess("c1", "sent")],
    ["deny", 1, createToolError("c1", `${lost} ${unknown}`)],
    ["nothing", 1, createToolError("c1", `${lost} ${unknown}`)],
  ])("An approver decides about any other interrupted tool: %s", async (answer, runs, result) => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wants({ id: "c1", name: "send" }), says("Well.")]);
    let count = 0;
    const send = createTool({ name: "send" }, (_, context) => {
      count += 1;
      context.progress("sending");
      return context.attempt === 1 ? never() : "sent";
    });
    // The cap counts tool calls: a request about a started call is not a new one.
    const agent = createAgent({ provider, tools: [send], caps: { toolCalls: 1, seconds: 3600 } });
    const killed = await openWorld(agent, { clock });
    await killed.prompt("Send.");
    await killed.waitForEvent("tool.progress");

    const world = await killed.restart();
    const { approvalId, question, options } = await world.waitForEvent("approval.requested");
    expect({ question, options, count }).toEqual({
      question: "outcome",
      options: ["run-again", "deny", "done", "failed"],
      count: 1,
    });
    if (answer === "nothing") clock.advance(600_000);
    else await world.decideApproval(approvalId, answer);
    await world.waitForEvent("turn.finished");
    expect(count).toBe(runs);
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([result]);
  });

  it("An interrupted tool needs approval to run again, whatever rules and grants allow [W-01]", async () => {
    const traits = { kind: "other", sideEffect: "none" } as const;
    const again = async (rule: "ask" | "allow") => {
      const provider = createScriptedProvider([
        wants({ id: "c1", name: "send" }),
        wants({ id: "c2", name: "send" }),
        says("Well."),
      ]);
      const send = createTool({ name: "send", traits }, (_, context) => {
        context.progress("sending");
        return context.toolCallId === first ? "sent" : never();
      });
      let first = "";
      const agent = createAgent({
        provider,
        tools: [send],
        policy: createPolicy([["send", rule]]),
      });
      const killed = await openWorld(agent);
      await killed.prompt("Send.");
      if (rule === "ask") {
        const { approvalId, subjectId } = await killed.waitForEvent("approval.requested");
        first = subjectId;
        await killed.decideApproval(approvalId, "allow-always");
        await killed.waitForEvent("tool.progress", 2);
      } else await killed.waitForEvent("tool.progress");
      const world = await killed.restart();
      return (await world.listEvents("approval.requested")).at(-1);
    };
    const reason =
      "send was running when the bridge was killed. It may already have run; allowing runs it again.";
    const context = { ...traits, tool: "send", paths: [], capabilities: [], repeats: 0 };
    const labels = ["approval_required", "may_have_run"];
    const request = {
      type: "approval.requested",
      question: "outcome",
      options: ["run-again", "deny", "done", "failed"],
      action: "send may already have run; allowing runs it again",
      input: {},
      approvers: 1,
      attempt: 2,
    };
    const byRule = { action: "ask", rule: null, reason, labels, approvers: 1, context };
    expect(await again("allow")).toMatchObject({ ...request, decision: byRule });
    const byGrant = {
      ...byRule,
      rule: { source: "rules", index: 0 },
      reason: `${reason} The policy (rules, entry 1) asks about send`,
      context: { ...context, repeats: 1 },
    };
    expect(await again("ask")).toMatchObject({ ...request, decision: byGrant });
  });

  it("An interrupted invocation is not repeated, even if the agent has changed", async () => {
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const killed = await openWorld(createAgent({ provider }));
    await killed.prompt("One");
    await killed.waitForEvent("text.delta");

    const world = await killed.restart(createAgent({ provider, approvalMs: 1000 }));
    expect((await world.readLog()).slice(-6).map(({ event }) => event.type)).toEqual([
      "session.recovered",
      "agent.configured",
      "text.finished",
      "message.finished",
      "invocation.lost",
      "approval.requested",
    ]);
    expect(provider.invocations.length).toBe(1);
  });

  it("Clients of the killed process are detached and their host requests closed", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "look" }), says("Oh.")]);
    const look = createTool({ name: "look" }, (_, context) => context.host("editor", "read", {}));
    const killed = await openWorld(createAgent({ provider, tools: [look] }));
    await killed.send({ type: "attach", clientId: "editor", mode: "controller", name: "Editor" });
    await killed.prompt("Look.");
    const { requestId } = await killed.waitForEvent("host.requested");

    const world = await killed.restart();
    expect((await world.readLog()).slice(-5, -1).map(({ event }) => event)).toMatchObject([
      { type: "session.recovered" },
      { type: "client.detached", clientId: "editor", reason: "bridge_restarted" },
      { type: "controller.changed", from: "editor", to: null },
      { type: "host.replied", requestId, outcome: "gone" },
    ]);
  });

  it("A process whose session was taken over writes nothing more", async () => {
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const agent = createAgent({ provider });
    const world = await openWorld(agent);
    await world.prompt("One");
    await world.waitForEvent("text.delta");
    const { store } = world;
    const other = createSessions({
      store,
      agents: [agent],
      clock: createFakeClock(),
      owner: "other",
    });
    await other.resumeInterrupted();
    const before = await world.readLog();
    await expect(world.cancel()).rejects.toMatchObject({ code: "stale_lease" });
    expect(world.reports).toMatchObject([{ code: "stale_lease" }]);
    expect(await world.readLog()).toEqual(before);
    await other.close();
  });

  it("A session is resumed even if another one cannot be", async () => {
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const killed = await openWorld(createAgent({ provider, onLost: "reseed" }));
    const { store } = killed;
    await killed.prompt("One");
    await killed.waitForEvent("text.delta");
    const gone = createSessions({
      store,
      agents: [createAgent({ provider, name: "gone" })],
      clock: createFakeClock(),
      owner: "test",
    });
    const { sessionId } = await gone.open({ principal: ME });
    const content = [{ type: "text", text: "Two" }] as const;
    await gone.command(sessionId, { type: "prompt", content }, { principal: ME });
    await gone.close();

    const world = await killed.restart();
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(world.reports).toMatchObject([{ code: "not_found" }]);
  });
});

describe("A lost invocation", () => {
  const afterLoss = async (parts: Partial<AgentParts>, effectFree = false) => {
    const provider = createScriptedProvider([says("Hello."), breaks(), says("Done.")], {
      effectFree,
    });
    const world = await openWorld(createAgent({ provider, ...parts }));
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("invocation.lost");
    return { provider, world };
  };
  const HELLO = { role: "assistant", blocks: [{ type: "text", text: "Hello." }] };

  it("An approver can continue a lost invocation in the same upstream session", async () => {
    const { provider, world } = await afterLoss({ onLost: "ask" });
    const { approvalId, options } = await world.waitForEvent("approval.requested");
    expect(options).toEqual(["continue", "reseed", "stop"]);
    expect(provider.invocations.length).toBe(2);
    await world.decideApproval(approvalId, "continue");
    await world.waitForEvent("turn.finished", 2);
    const [, second, third] = provider.invocations;
    expect(provider.stoppedSessions).toEqual([second?.sessionId]);
    expect(third?.sessionId).toBe(second?.sessionId);
    expect(third?.input).toEqual({
      type: "prompt",
      texts: [expect.stringMatching(/^The connection was lost .*\n\nTwo$/s)],
    });
    expect((await world.listEvents("message.sent")).at(-1)).toMatchObject({ origin: "recovery" });
  });

  it("An approver's decision or the deadline stops the turn of a lost invocation", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([breaks()]);
    const world = await openWorld(createAgent({ provider }), { clock });
    await world.prompt("One");
    await world.decideApproval((await world.waitForEvent("approval.requested")).approvalId, "stop");
    const outcome = { outcome: "failed", failure: { code: "connection_lost" } };
    expect(await world.waitForEvent("turn.finished")).toMatchObject(outcome);
    await world.prompt("Two");
    const { deadline, approvalId } = await world.waitForEvent("approval.requested", 2);
    clock.advance(deadline - clock.now());
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject(outcome);
    expect(await world.decideApproval(approvalId, "continue")).toMatchObject({ status: "refused" });
    expect(provider.invocations.length).toBe(2);
  });

  it("The policy continues with a message, with a new upstream session, or by resending without effects", async () => {
    const continued = await afterLoss({ onLost: "continue" });
    await continued.world.waitForEvent("turn.finished", 2);
    expect(continued.provider.invocations[2]?.sessionId).toBe(
      continued.provider.invocations[1]?.sessionId,
    );

    const reseeded = await afterLoss({ onLost: "reseed" });
    await reseeded.world.waitForEvent("turn.finished", 2);
    const [, second, third] = reseeded.provider.invocations;
    expect(third?.sessionId).not.toBe(second?.sessionId);
    expect(third).toMatchObject({ history: [USER, HELLO], input: { texts: ["Two"] } });

    const resent = await afterLoss({ onLost: "resend" }, true);
    await resent.world.waitForEvent("turn.finished", 2);
    expect(resent.provider.invocations[2]).toEqual(resent.provider.invocations[1]);
    const { invocationId } = await resent.world.waitForEvent("invocation.lost");
    expect((await resent.world.listEvents("invocation.started")).at(-1)).toMatchObject({
      retryOf: invocationId,
    });
  });

  it("An invocation with possible effects is never resent", async () => {
    const { provider, world } = await afterLoss({ onLost: "resend" });
    await world.waitForEvent("approval.requested");
    expect(provider.invocations.length).toBe(2);
  });

  it("Repeated losses end at the cap of steps", async () => {
    for (const onLost of ["continue", "reseed", "resend"] as const) {
      const provider = createScriptedProvider([breaks()], { effectFree: true });
      const world = await openWorld(createAgent({ provider, onLost, caps: { steps: 4 } }));
      await world.prompt("One");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        reason: "max_steps",
        steps: 4,
      });
      // Every invocation has content.
      for (const { input } of provider.invocations) expect(input.texts).not.toEqual([]);
    }
  });

  it("A lost recovery message is sent again in a new upstream session", async () => {
    const provider = createScriptedProvider([breaks(), breaks(), says("Done.")]);
    const world = await openWorld(createAgent({ provider }));
    await world.prompt("One");
    await world.decideApproval(
      (await world.waitForEvent("approval.requested")).approvalId,
      "continue",
    );
    await world.decideApproval(
      (await world.waitForEvent("approval.requested", 2)).approvalId,
      "reseed",
    );
    await world.waitForEvent("turn.finished");
    const [, second, third] = provider.invocations;
    expect(third?.input).toEqual(second?.input);
    expect(third?.sessionId).not.toBe(second?.sessionId);
  });
});
