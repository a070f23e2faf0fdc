import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import type { PathFact } from "../../src/domain/policy-decision.ts";
import { toolError } from "../../src/domain/tool.ts";
import type { CallToExamine } from "../../src/tools/tool.ts";
import { policyOf, type RuleLine } from "../support/policy.ts";
import { says, scriptedProvider, wants } from "../support/scripted-provider.ts";
import { agentOf, tool, worldOf } from "../support/session-world.ts";
import { CALL, inside, never, resultsIn, typesSince, writing } from "../support/writing-agent.ts";

describe("other arguments of an approver", () => {
  const other = { path: "other.md" };
  const answer = (approvalId: string, input: JsonObject) =>
    ({ type: "answer", approvalId, decision: "allow", input }) as const;

  it("are looked at and judged like a call, and the tool runs with them, once [W-02]", async () => {
    const { agent, ran, looked } = writing("ask");
    const world = await worldOf(agent());
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    await world.send(answer(approvalId, other));
    await world.event("turn.finished");
    expect(await typesSince(world, "approval.resolved")).toEqual([
      "tool.examined",
      "policy.decided",
      "tool.started",
      "tool.finished",
    ]);
    const [asked, judged] = await world.events("policy.decided");
    expect(judged).toMatchObject({
      decision: { action: "allow", context: { paths: [inside("other.md")] } },
    });
    expect(judged?.digest).not.toBe(asked?.digest);
    expect(await world.events("tool.started")).toMatchObject([
      { digest: judged?.digest, approvalId },
    ]);
    expect(ran).toEqual([{ input: other, paths: [inside("other.md")] }]);
    expect(looked.map(({ input }) => input)).toEqual([CALL.input, other]);
  });

  it("that the tool does not take are refused, and the agent hears why", async () => {
    const { agent, provider, ran, write } = writing("ask");
    const check = ({ path }: JsonObject) => (path === "other.md" ? "path is taken." : undefined);
    const world = await worldOf(agent({ tools: [{ ...write, check }] }));
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    await world.send(answer(approvalId, other));
    await world.event("turn.finished");
    const problem = "write was not run: its arguments are wrong. path is taken.";
    expect((await world.events("tool.examined")).at(-1)).toMatchObject({ problem });
    expect(await world.events("policy.decided")).toHaveLength(1);
    expect([ran, await world.events("tool.started")]).toEqual([[], []]);
    expect(resultsIn(provider.calls[1]?.input)).toEqual([toolError("c1", problem)]);
  });

  it("are checked by a tool that takes no paths as well, before anything is judged", async () => {
    const call = { id: "c1", name: "pay", input: { amount: 7 } };
    const provider = scriptedProvider([wants(call), says("Well.")]);
    const check = ({ amount }: JsonObject) => (amount === 7 ? undefined : "amount is too much.");
    const pay = { ...tool({ name: "pay" }, () => "paid"), check };
    const policy = policyOf([["pay", "ask"]]);
    const world = await worldOf(agentOf({ provider, tools: [pay], policy }));
    await world.prompt("Pay.");
    const { approvalId } = await world.event("approval.requested");
    await world.send(answer(approvalId, { amount: 700 }));
    await world.event("turn.finished");
    expect(await typesSince(world, "approval.resolved")).toEqual([
      "tool.examined",
      "tool.finished",
    ]);
    expect(await world.event("tool.finished")).toMatchObject({ ending: "refused" });
  });

  it.each<[string, readonly RuleLine[], PathFact["place"]]>([
    [
      "by their content",
      [
        ["write", "deny", 0, { args: [{ name: ["path"], equals: "other.md" }] }],
        ["write", "ask"],
      ],
      "inside",
    ],
    ["by where they lead", [["write", "ask"]], "outside"],
    ["as Spanline's own", [["write", "ask"]], "protected"],
  ])("are not let run where the rules deny them %s [W-02]", async (_, rules, place) => {
    const examine = async ({ paths }: CallToExamine) => {
      const path = paths[0]?.input ?? "";
      const isOther = path === "other.md" && place !== "inside";
      const elsewhere = { place, workspacePath: null, hostPath: "/etc/other.md" };
      return { paths: [{ ...inside(path), ...(isOther && elsewhere) }] };
    };
    const { agent, provider, ran } = writing("ask", { examine, policy: policyOf(rules) });
    const world = await worldOf(agent());
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    expect(await world.send(answer(approvalId, other))).toEqual({ status: "accepted" });
    await world.event("turn.finished");
    const [, judged] = await world.events("policy.decided");
    expect(judged?.decision).toMatchObject({ action: "deny", context: { paths: [{ place }] } });
    expect([ran, await world.events("tool.started")]).toEqual([[], []]);
    const why = `the rules of this session do not allow it. ${judged?.decision.reason}`;
    expect(resultsIn(provider.calls[1]?.input)).toEqual([
      toolError("c1", `write was not run: ${why}`),
    ]);
  });

  it("that take more people than said yes are asked about once more [W-02]", async () => {
    const isMuch = { args: [{ name: ["amount"], atLeast: 100 }] };
    const policy = policyOf([
      ["pay", "ask", 2, isMuch],
      ["pay", "ask"],
    ]);
    const call = { id: "c1", name: "pay", input: { amount: 7 } };
    const provider = scriptedProvider([wants(call), says("Paid.")]);
    const ran: unknown[] = [];
    const pay = tool({ name: "pay" }, (input) => ran.push(input));
    const world = await worldOf(agentOf({ provider, tools: [pay], policy }));
    await world.prompt("Pay.");
    const { approvalId, approvers } = await world.event("approval.requested");
    expect(approvers).toBe(1);
    await world.send(answer(approvalId, { amount: 700 }));
    const asked = await world.event("approval.requested", 2);
    expect(asked).toMatchObject({ approvers: 2, input: { amount: 700 } });
    await world.answer(asked.approvalId, "allow");
    expect(ran).toEqual([]);
    const principal = { id: "you", rights: ["approve"] } as const;
    const { approvalId: second } = asked;
    await world.send({ type: "answer", approvalId: second, decision: "allow" }, { principal });
    await world.event("turn.finished");
    expect(ran).toEqual([{ amount: 700 }]);
  });

  it("are not let run by rules that came while the question was open [W-02]", async () => {
    const { agent, provider, ran } = writing("ask");
    const killed = await worldOf(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.event("approval.requested");

    // They ask just so about what was asked, and deny what the approver makes of it.
    const stricter = policyOf([
      ["write", "ask"],
      ["write", "deny", 1, { path: ["other.md"] }],
    ]);
    const world = await killed.restart(agent({ policy: stricter }));
    expect(await world.send(answer(approvalId, other))).toEqual({ status: "accepted" });
    await world.event("turn.finished");
    const [asked, judged] = await world.events("policy.decided");
    expect(judged).toMatchObject({ decision: { action: "deny" } });
    expect(judged?.agent).not.toBe(asked?.agent);
    expect([ran, await world.events("tool.started")]).toEqual([[], []]);
    const [result] = resultsIn(provider.calls[1]?.input);
    expect(result).toMatchObject({ callId: "c1", isError: true });
  });

  it("are allowed to this call alone: the same arguments of another one are asked about", async () => {
    const second = { id: "c2", name: "write", input: other };
    const provider = scriptedProvider([wants(CALL, second), says("Well.")]);
    const { agent, ran } = writing("ask", { provider });
    const world = await worldOf(agent());
    await world.prompt("Write.");
    const { approvalId } = await world.event("approval.requested");
    const { approvalId: still } = await world.event("approval.requested", 2);
    await world.send(answer(approvalId, other));
    await world.event("tool.finished");
    expect(ran).toHaveLength(1);
    expect(await world.answer(still, "deny")).toEqual({ status: "accepted" });
    await world.event("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("given just before the bridge was killed are judged before they run", async () => {
    const { agent, ran } = writing("ask");
    // Who was asked to look at them was killed before the answer came.
    const examine = (call: CallToExamine) =>
      call.input["path"] === "tea.md" ? agent().examine?.(call) : never();
    const killed = await worldOf(agent({ examine: (call) => examine(call) ?? never() }));
    await killed.prompt("Write.");
    const { approvalId } = await killed.event("approval.requested");
    await killed.send(answer(approvalId, other));

    const world = await killed.restart(agent());
    await world.event("turn.finished");
    expect(ran).toEqual([{ input: other, paths: [inside("other.md")] }]);
    expect(await world.events("policy.decided")).toMatchObject([
      { decision: { action: "ask" } },
      { decision: { action: "allow" } },
    ]);
  });
});
