import { describe, expect, it } from "vitest";
import type { Policy, Rule } from "../../src/domain/policy.ts";
import type { ApprovalNote } from "../../src/domain/policy-decision.ts";
import { toolError, toolSuccess } from "../../src/domain/tool.ts";
import type { CallToExamine } from "../../src/tools/tool.ts";
import { policyOf, type RuleLine } from "../support/policy.ts";
import { says, scriptedProvider, wants } from "../support/scripted-provider.ts";
import { tool, worldOf } from "../support/session-world.ts";
import { CALL, inside, never, resultsIn, TRAITS, writing } from "../support/writing-agent.ts";

describe("rules that changed", () => {
  const deny = { policy: policyOf([["write", "deny"]]) };
  const why = "the rules of this session do not allow it.";

  it("hold for what was allowed, and had not begun", async () => {
    const provider = scriptedProvider([wants({ id: "c0", name: "wait" }, CALL), says("Well.")]);
    const wait = tool({ name: "wait" }, (_, context) => {
      context.progress("waiting");
      return never();
    });
    const { agent, ran, write } = writing("allow", { provider, caps: { parallelTools: 1 } });
    const tools = [wait, write];
    const rules = (action: RuleLine[1]) =>
      policyOf([
        ["wait", "allow"],
        ["write", action],
      ]);
    const killed = await worldOf(agent({ tools, policy: rules("allow") }));
    await killed.prompt("Go.");
    await killed.event("tool.progressed");
    await killed.event("policy.decided", 2);

    const stricter = agent({ tools, policy: rules("deny") });
    const world = await killed.restart(stricter);
    expect((await world.events("policy.decided")).at(-1)).toMatchObject({
      agent: stricter.digest,
      decision: { action: "deny" },
    });
    expect(await world.event("tool.finished")).toMatchObject({ ending: "denied" });
    expect(ran).toEqual([]);
    expect(await world.events("tool.started")).toHaveLength(1);
  });

  it("hold for what was asked about: a question that is none any more is closed, and no reason to hang", async () => {
    const { agent, provider, ran } = writing("ask");
    const killed = await worldOf(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.event("approval.requested");

    const world = await killed.restart(agent(deny));
    await world.event("turn.finished");
    expect(await world.events("approval.resolved")).toEqual([
      { type: "approval.resolved", approvalId, decision: "deny", by: "change" },
    ]);
    expect(await world.answer(approvalId, "allow-always")).toMatchObject({ status: "refused" });
    expect([ran, await world.events("grant.given")]).toEqual([[], []]);
    expect(resultsIn(provider.calls[1]?.input)).toMatchObject([
      { parts: [{ text: expect.stringContaining(`write was not run: ${why}`) }] },
    ]);
  });

  it("take back what was allowed for good, also when only the tool is another one now", async () => {
    const { agent, write } = writing("ask");
    const before = await worldOf(agent());
    await before.prompt("Write.");
    const { approvalId } = await before.event("approval.requested");
    await before.answer(approvalId, "allow-always");
    await before.event("turn.finished");
    const { grantId } = await before.event("grant.given");
    const other = { ...write, facts: { ...write.facts, description: "Deletes everything" } };
    const world = await before.restart(agent({ tools: [other] }));
    await world.prompt("Again.");
    expect(await world.events("grant.revoked")).toMatchObject([{ grantId }]);
  });

  it("may allow what was asked about: it runs, and nobody has to answer any more", async () => {
    const { agent, ran } = writing("ask");
    const killed = await worldOf(agent());
    await killed.prompt("Write.");
    await killed.event("approval.requested");
    const world = await killed.restart(agent({ policy: policyOf([["write", "allow"]]) }));
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.events("approval.resolved")).toMatchObject([{ by: "change" }]);
  });

  it("leave a question as it is that they would ask just so, with all its answers", async () => {
    const { agent, ran } = writing("ask");
    const killed = await worldOf(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.event("approval.requested");
    const more = policyOf([
      ["write", "ask"],
      ["read", "deny"],
    ]);
    const world = await killed.restart(agent({ policy: more }));
    expect(await world.events("agent.bound")).toHaveLength(2);
    expect(await world.answer(approvalId, "allow-always")).toEqual({ status: "accepted" });
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.events("grant.given")).toMatchObject([{ approvalId }]);
    expect(await world.events("approval.requested")).toHaveLength(1);
  });

  it("may want more people than were asked: those who now have to are asked", async () => {
    const { agent, ran } = writing("ask");
    const killed = await worldOf(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.event("approval.requested");

    const world = await killed.restart(agent({ policy: policyOf([["write", "ask", 2]]) }));
    const asked = await world.event("approval.requested", 2);
    expect(await world.answer(approvalId, "allow")).toMatchObject({ status: "refused" });
    expect(asked).toMatchObject({ approvers: 2, options: ["allow", "deny"] });
    await world.answer(asked.approvalId, "allow");
    expect(ran).toEqual([]);
    const you = { id: "you", rights: ["approve"] } as const;
    const yes = { type: "answer", approvalId: asked.approvalId, decision: "allow" } as const;
    await world.send(yes, { principal: you });
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.events("tool.started")).toMatchObject([{ approvalId: asked.approvalId }]);
  });

  it("may ask something else than a yes was to: what was allowed and had not begun is asked about anew", async () => {
    const { agent, ran, write } = writing("ask", {
      provider: scriptedProvider([wants({ id: "c0", name: "wait" }, CALL), says("Well.")]),
    });
    const wait = tool({ name: "wait" }, () => never());
    const rules = (approval: ApprovalNote): Policy => {
      const { layers } = policyOf([
        ["wait", "allow"],
        ["write", "ask"],
      ]);
      const noted = (rule: Rule): Rule => (rule.action === "ask" ? { ...rule, approval } : rule);
      return { layers: layers.map((layer) => ({ ...layer, rules: layer.rules.map(noted) })) };
    };
    const mild = { prompt: "A greeting", risk: "low" };
    const waiting = { tools: [wait, write], caps: { parallelTools: 1 } };
    const killed = await worldOf(agent({ ...waiting, policy: rules(mild) }));
    await killed.prompt("Go.");
    const first = await killed.event("approval.requested");
    await killed.answer(first.approvalId, "allow");

    const pays = { prompt: "This pays money", risk: "high" };
    const asking = await killed.restart(agent({ ...waiting, policy: rules(pays) }));
    const outcome = await asking.event("approval.requested", 2);
    await asking.answer(outcome.approvalId, "failed");
    const again = await asking.event("approval.requested", 3);
    expect(again).toMatchObject({ question: "run", decision: { approval: pays } });
    expect(ran).toEqual([]);
    await asking.answer(again.approvalId, "allow");
    await asking.event("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("may ask just what a yes was to: it counts, whatever else they say now", async () => {
    const { agent, ran, write } = writing("ask", {
      provider: scriptedProvider([wants({ id: "c0", name: "wait" }, CALL), says("Well.")]),
    });
    const wait = tool({ name: "wait" }, () => never());
    const rules = (...more: readonly RuleLine[]) =>
      policyOf([["wait", "allow"], ["write", "ask"], ...more]);
    const waiting = { tools: [wait, write], caps: { parallelTools: 1 } };
    const killed = await worldOf(agent({ ...waiting, policy: rules() }));
    await killed.prompt("Go.");
    const { approvalId } = await killed.event("approval.requested");
    await killed.answer(approvalId, "allow");
    const world = await killed.restart(agent({ ...waiting, policy: rules(["read", "deny"]) }));
    const outcome = await world.event("approval.requested", 2);
    await world.answer(outcome.approvalId, "failed");
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.events("approval.requested")).toHaveLength(2);
  });

  it("hold for what was running when the bridge was killed, whoever wants it run again", async () => {
    const { agent, provider } = writing("allow");
    let runs = 0;
    const write = tool({ name: "write", traits: TRAITS, idempotent: true }, (_, context) => {
      runs += 1;
      context.progress("writing");
      return never();
    });
    const killed = await worldOf(agent({ tools: [write] }));
    await killed.prompt("Write.");
    await killed.event("tool.progressed");

    const world = await killed.restart(agent({ tools: [write], ...deny }));
    const { approvalId, question } = await world.event("approval.requested");
    expect(question).toBe("outcome");
    await world.answer(approvalId, "run-again");
    await world.event("turn.finished");
    expect(runs).toBe(1);
    const text = `write was not run again, and whether it did its work before is not known: ${why}`;
    expect(resultsIn(provider.calls[1]?.input)).toMatchObject([
      { parts: [{ text: expect.stringContaining(text) }] },
    ]);
  });

  it("are asked anew about what is run again, and the log says by which", async () => {
    const { agent } = writing("allow");
    const write = tool({ name: "write", traits: TRAITS, idempotent: true }, (_, context) => {
      context.progress("writing");
      return context.attempt === 1 ? never() : "written";
    });
    const killed = await worldOf(agent({ tools: [write] }));
    await killed.prompt("Write.");
    await killed.event("tool.progressed");

    const changed = agent({ tools: [write], policy: policyOf([["*", "allow"]]) });
    const world = await killed.restart(changed);
    await world.event("turn.finished");
    expect((await world.events("policy.decided")).at(-1)).toMatchObject({ agent: changed.digest });
    expect(await world.events("tool.started")).toMatchObject([{ attempt: 1 }, { attempt: 2 }]);
  });

  it("may make paths of other arguments: those are looked at before it runs", async () => {
    const copy = { id: "c1", name: "write", input: { path: "tea.md", to: "cup.md" } };
    const provider = scriptedProvider([wants(copy), says("Well.")]);
    const { agent, ran, looked, write } = writing("ask", { provider });
    const examine = async (call: CallToExamine) => {
      looked.push(call);
      return { paths: call.paths.map(({ argument, input }) => ({ ...inside(input), argument })) };
    };
    const killed = await worldOf(agent({ examine }));
    await killed.prompt("Copy.");
    await killed.event("approval.requested");

    const traits = { ...TRAITS, kind: "edit", sideEffect: "workspace_write" } as const;
    const facts = { ...write.facts, traits: { ...traits, paths: ["path", "to"] } };
    const world = await killed.restart(agent({ examine, tools: [{ ...write, facts }] }));
    const { approvalId } = await world.event("approval.requested", 2);
    await world.answer(approvalId, "allow");
    await world.event("turn.finished");
    const paths = [inside("tea.md"), { ...inside("cup.md"), argument: "to" }];
    expect(ran).toEqual([{ input: copy.input, paths }]);
    expect((await world.events("policy.decided")).at(-1)).toMatchObject({
      decision: { context: { paths } },
    });
  });

  it("hold while the session goes on, from when the agent says so", async () => {
    const { agent, ran } = writing("ask");
    let change: () => void = () => undefined;
    const world = await worldOf({
      ...agent(),
      open: async ({ changed }) => {
        change = () => changed(agent(deny));
        return { agent: agent(), close: async () => undefined };
      },
    });
    await world.prompt("Write.");
    await world.event("approval.requested");
    change();
    await world.event("turn.finished");
    expect(ran).toEqual([]);
    expect(await world.events("tool.finished")).toMatchObject([{ ending: "denied" }]);
  });
});

describe("a tool that is not there any more", () => {
  it("is not run, whoever allowed it", async () => {
    const { agent, provider, ran } = writing("ask");
    const killed = await worldOf(agent());
    await killed.prompt("Write.");
    await killed.event("approval.requested");

    const world = await killed.restart(agent({ tools: [tool({ name: "read" }, () => "text")] }));
    await world.event("turn.finished");
    expect([ran, await world.events("tool.started")]).toEqual([[], []]);
    expect(resultsIn(provider.calls[1]?.input)).toEqual([
      toolError("c1", "write was not run: it is not there any more."),
    ]);
  });

  it("is not run again after a kill, and what it did is asked", async () => {
    const { agent, provider } = writing("allow");
    const write = tool({ name: "write", idempotent: true }, (_, context) => {
      context.progress("writing");
      return never();
    });
    const killed = await worldOf(agent({ tools: [write] }));
    await killed.prompt("Write.");
    await killed.event("tool.progressed");

    const world = await killed.restart(agent({ tools: [] }));
    const { approvalId, question } = await world.event("approval.requested");
    expect(question).toBe("outcome");
    await world.answer(approvalId, "done");
    await world.event("turn.finished");
    expect(resultsIn(provider.calls[1]?.input)).toEqual([
      toolSuccess("c1", "write did its work; its output was lost when the bridge was killed."),
    ]);
  });
});
