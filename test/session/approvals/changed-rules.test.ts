import { describe, expect, it } from "vitest";
import type { Policy, Rule } from "../../../src/domain/policy/policy.ts";
import type { ApprovalNote } from "../../../src/domain/policy/policy-decision.ts";
import { createToolError, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import type { ToolCallToExamine } from "../../../src/tools/tool.ts";
import { createPolicy, type RuleLine } from "../../support/session/create-policy.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { createTool, openWorld } from "../../support/session/session-world.ts";
import {
  WRITE_CALL,
  createInsidePath,
  neverResolves,
  readResults,
  WRITE_TRAITS,
  createWritingAgent,
} from "../../support/session/writing-agent.ts";

describe("Changed rules", () => {
  const deny = { policy: createPolicy([["write", "deny"]]) };
  const why = "the rules of this session do not allow it.";

  it("Changed rules apply to an approved call which has not started", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c0", name: "wait" }, WRITE_CALL),
      says("Well."),
    ]);
    const wait = createTool({ name: "wait" }, (_, context) => {
      context.progress("waiting");
      return neverResolves();
    });
    const { agent, ran, write } = createWritingAgent("allow", {
      provider,
      caps: { parallelTools: 1 },
    });
    const tools = [wait, write];
    const rules = (action: RuleLine[1]) =>
      createPolicy([
        ["wait", "allow"],
        ["write", action],
      ]);
    const killed = await openWorld(agent({ tools, policy: rules("allow") }));
    await killed.prompt("Go.");
    await killed.waitForEvent("tool.progress");
    await killed.waitForEvent("policy.decided", 2);

    const stricter = agent({ tools, policy: rules("deny") });
    const world = await killed.restart(stricter);
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      agent: stricter.digest,
      decision: { action: "deny" },
    });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "denied" });
    expect(ran).toEqual([]);
    expect(await world.listEvents("tool.started")).toHaveLength(1);
  });

  it("An approval request which the changed rules no longer need is closed, and the turn continues", async () => {
    const { agent, provider, ran } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.waitForEvent("approval.requested");

    const world = await killed.restart(agent(deny));
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("approval.resolved")).toEqual([
      { type: "approval.resolved", approvalId, decision: "deny", resolvedBy: "change" },
    ]);
    expect(await world.decideApproval(approvalId, "allow-always")).toMatchObject({
      status: "refused",
    });
    expect([ran, await world.listEvents("grant.added")]).toEqual([[], []]);
    expect(readResults(provider.invocations[1]?.input)).toMatchObject([
      { parts: [{ text: expect.stringContaining(`write was not run: ${why}`) }] },
    ]);
  });

  it("Changed rules or a changed tool revoke grants", async () => {
    const { agent, write } = createWritingAgent("ask");
    const before = await openWorld(agent());
    await before.prompt("Write.");
    const { approvalId } = await before.waitForEvent("approval.requested");
    await before.decideApproval(approvalId, "allow-always");
    await before.waitForEvent("turn.finished");
    const { grantId } = await before.waitForEvent("grant.added");
    const other = { ...write, spec: { ...write.spec, description: "Deletes everything" } };
    const world = await before.restart(agent({ tools: [other] }));
    await world.prompt("Again.");
    expect(await world.listEvents("grant.revoked")).toMatchObject([{ grantId }]);
  });

  it("A call allowed by the changed rules runs without the pending approval", async () => {
    const { agent, ran } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    await killed.waitForEvent("approval.requested");
    const world = await killed.restart(agent({ policy: createPolicy([["write", "allow"]]) }));
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("approval.resolved")).toMatchObject([{ resolvedBy: "change" }]);
  });

  it("A request which the changed rules would make identically stays open with its votes", async () => {
    const { agent, ran } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.waitForEvent("approval.requested");
    const more = createPolicy([
      ["write", "ask"],
      ["read", "deny"],
    ]);
    const world = await killed.restart(agent({ policy: more }));
    expect(await world.listEvents("agent.configured")).toHaveLength(2);
    expect(await world.decideApproval(approvalId, "allow-always")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("grant.added")).toMatchObject([{ approvalId }]);
    expect(await world.listEvents("approval.requested")).toHaveLength(1);
  });

  it("Changed rules which require more approvers ask again", async () => {
    const { agent, ran } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.waitForEvent("approval.requested");

    const world = await killed.restart(agent({ policy: createPolicy([["write", "ask", 2]]) }));
    const approval = await world.waitForEvent("approval.requested", 2);
    expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
    expect(approval).toMatchObject({ approvers: 2, options: ["allow", "deny"] });
    await world.decideApproval(approval.approvalId, "allow");
    expect(ran).toEqual([]);
    const you = { id: "you", rights: ["approve"] } as const;
    const yes = {
      type: "decide-approval",
      approvalId: approval.approvalId,
      decision: "allow",
    } as const;
    await world.send(yes, { principal: you });
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("tool.started")).toMatchObject([
      { approvalId: approval.approvalId },
    ]);
  });

  it("Changed rules which ask another question ask again about an approved call which has not started", async () => {
    const { agent, ran, write } = createWritingAgent("ask", {
      provider: createScriptedProvider([
        wants({ id: "c0", name: "wait" }, WRITE_CALL),
        says("Well."),
      ]),
    });
    const wait = createTool({ name: "wait" }, () => neverResolves());
    const rules = (approval: ApprovalNote): Policy => {
      const { layers } = createPolicy([
        ["wait", "allow"],
        ["write", "ask"],
      ]);
      const noted = (rule: Rule): Rule => (rule.action === "ask" ? { ...rule, approval } : rule);
      return { layers: layers.map((layer) => ({ ...layer, rules: layer.rules.map(noted) })) };
    };
    const mild = { prompt: "A greeting", risk: "low" };
    const waiting = { tools: [wait, write], caps: { parallelTools: 1 } };
    const killed = await openWorld(agent({ ...waiting, policy: rules(mild) }));
    await killed.prompt("Go.");
    const first = await killed.waitForEvent("approval.requested");
    await killed.decideApproval(first.approvalId, "allow");

    const pays = { prompt: "This pays money", risk: "high" };
    const asking = await killed.restart(agent({ ...waiting, policy: rules(pays) }));
    const outcome = await asking.waitForEvent("approval.requested", 2);
    await asking.decideApproval(outcome.approvalId, "failed");
    const again = await asking.waitForEvent("approval.requested", 3);
    expect(again).toMatchObject({ question: "run", decision: { approval: pays } });
    expect(ran).toEqual([]);
    await asking.decideApproval(again.approvalId, "allow");
    await asking.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("An approval still counts if the changed rules ask exactly the same", async () => {
    const { agent, ran, write } = createWritingAgent("ask", {
      provider: createScriptedProvider([
        wants({ id: "c0", name: "wait" }, WRITE_CALL),
        says("Well."),
      ]),
    });
    const wait = createTool({ name: "wait" }, () => neverResolves());
    const rules = (...more: readonly RuleLine[]) =>
      createPolicy([["wait", "allow"], ["write", "ask"], ...more]);
    const waiting = { tools: [wait, write], caps: { parallelTools: 1 } };
    const killed = await openWorld(agent({ ...waiting, policy: rules() }));
    await killed.prompt("Go.");
    const { approvalId } = await killed.waitForEvent("approval.requested");
    await killed.decideApproval(approvalId, "allow");
    const world = await killed.restart(agent({ ...waiting, policy: rules(["read", "deny"]) }));
    const outcome = await world.waitForEvent("approval.requested", 2);
    await world.decideApproval(outcome.approvalId, "failed");
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("approval.requested")).toHaveLength(2);
  });

  it("Changed rules apply to a tool which was running when the bridge was killed, regardless of its approver", async () => {
    const { agent, provider } = createWritingAgent("allow");
    let runs = 0;
    const write = createTool(
      { name: "write", traits: WRITE_TRAITS, idempotent: true },
      (_, context) => {
        runs += 1;
        context.progress("writing");
        return neverResolves();
      },
    );
    const killed = await openWorld(agent({ tools: [write] }));
    await killed.prompt("Write.");
    await killed.waitForEvent("tool.progress");

    const world = await killed.restart(agent({ tools: [write], ...deny }));
    const { approvalId, question } = await world.waitForEvent("approval.requested");
    expect(question).toBe("outcome");
    await world.decideApproval(approvalId, "run-again");
    await world.waitForEvent("turn.finished");
    expect(runs).toBe(1);
    const text = `write was not run again, and whether it did its work before is not known: ${why}`;
    expect(readResults(provider.invocations[1]?.input)).toMatchObject([
      { parts: [{ text: expect.stringContaining(text) }] },
    ]);
  });

  it("Running a tool again evaluates the changed rules, and the receipt names them", async () => {
    const { agent } = createWritingAgent("allow");
    const write = createTool(
      { name: "write", traits: WRITE_TRAITS, idempotent: true },
      (_, context) => {
        context.progress("writing");
        return context.attempt === 1 ? neverResolves() : "written";
      },
    );
    const killed = await openWorld(agent({ tools: [write] }));
    await killed.prompt("Write.");
    await killed.waitForEvent("tool.progress");

    const changed = agent({ tools: [write], policy: createPolicy([["*", "allow"]]) });
    const world = await killed.restart(changed);
    await world.waitForEvent("turn.finished");
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      agent: changed.digest,
    });
    expect(await world.listEvents("tool.started")).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });

  it("Changed rules may declare further arguments as paths, which are resolved before the tool runs", async () => {
    const copy = { id: "c1", name: "write", input: { path: "tea.md", to: "cup.md" } };
    const provider = createScriptedProvider([wants(copy), says("Well.")]);
    const { agent, ran, looked, write } = createWritingAgent("ask", { provider });
    const examine = async (call: ToolCallToExamine) => {
      looked.push(call);
      return {
        paths: call.paths.map(({ argument, input }) => ({ ...createInsidePath(input), argument })),
      };
    };
    const killed = await openWorld(agent({ examine }));
    await killed.prompt("Copy.");
    await killed.waitForEvent("approval.requested");

    const traits = { ...WRITE_TRAITS, kind: "edit", sideEffect: "workspace_write" } as const;
    const spec = { ...write.spec, traits: { ...traits, paths: ["path", "to"] } };
    const world = await killed.restart(agent({ examine, tools: [{ ...write, spec }] }));
    const { approvalId } = await world.waitForEvent("approval.requested", 2);
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    const paths = [createInsidePath("tea.md"), { ...createInsidePath("cup.md"), argument: "to" }];
    expect(ran).toEqual([{ input: copy.input, paths }]);
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      decision: { context: { paths } },
    });
  });

  it("Changed rules apply to a running session as soon as the agent reports them", async () => {
    const { agent, ran } = createWritingAgent("ask");
    let change: () => void = () => undefined;
    const world = await openWorld({
      ...agent(),
      open: async ({ onChange }) => {
        change = () => onChange(agent(deny));
        return { agent: agent(), close: async () => undefined };
      },
    });
    await world.prompt("Write.");
    await world.waitForEvent("approval.requested");
    change();
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "denied" }]);
  });
});

describe("A removed tool", () => {
  it("A removed tool does not run, even with an approval", async () => {
    const { agent, provider, ran } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    await killed.waitForEvent("approval.requested");

    const world = await killed.restart(
      agent({ tools: [createTool({ name: "read" }, () => "text")] }),
    );
    await world.waitForEvent("turn.finished");
    expect([ran, await world.listEvents("tool.started")]).toEqual([[], []]);
    expect(readResults(provider.invocations[1]?.input)).toEqual([
      createToolError("c1", "write was not run: it is no longer available."),
    ]);
  });

  it("A removed tool does not run again after a kill, and an approver is asked for the outcome", async () => {
    const { agent, provider } = createWritingAgent("allow");
    const write = createTool({ name: "write", idempotent: true }, (_, context) => {
      context.progress("writing");
      return neverResolves();
    });
    const killed = await openWorld(agent({ tools: [write] }));
    await killed.prompt("Write.");
    await killed.waitForEvent("tool.progress");

    const world = await killed.restart(agent({ tools: [] }));
    const { approvalId, question } = await world.waitForEvent("approval.requested");
    expect(question).toBe("outcome");
    await world.decideApproval(approvalId, "done");
    await world.waitForEvent("turn.finished");
    expect(readResults(provider.invocations[1]?.input)).toEqual([
      createToolSuccess(
        "c1",
        "write did its work; its output was lost when the bridge was killed.",
      ),
    ]);
  });
});
