import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import type { PathFact } from "../../../src/domain/policy/policy-decision.ts";
import { createToolError } from "../../../src/domain/tools/tool-call.ts";
import type { ToolCallToExamine } from "../../../src/tools/tool.ts";
import { createPolicy, type RuleLine } from "../../support/session/create-policy.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../../support/session/session-world.ts";
import {
  WRITE_CALL,
  createInsidePath,
  neverResolves,
  readResults,
  listTypesSince,
  createWritingAgent,
} from "../../support/session/writing-agent.ts";

describe("Arguments edited by an approver", () => {
  const other = { path: "other.md" };
  const answer = (approvalId: string, input: JsonObject) =>
    ({ type: "decide-approval", approvalId, decision: "allow", input }) as const;

  it("Edited arguments are resolved and evaluated like a call, and the tool runs with them once [W-02]", async () => {
    const { agent, ran, looked } = createWritingAgent("ask");
    const world = await openWorld(agent());
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.send(answer(approvalId, other));
    await world.waitForEvent("turn.finished");
    expect(await listTypesSince(world, "approval.resolved")).toEqual([
      "tool_call.paths_resolved",
      "policy.decided",
      "tool.started",
      "tool.finished",
    ]);
    const [firstDecision, judged] = await world.listEvents("policy.decided");
    expect(judged).toMatchObject({
      decision: { action: "allow", context: { paths: [createInsidePath("other.md")] } },
    });
    expect(judged?.digest).not.toBe(firstDecision?.digest);
    expect(await world.listEvents("tool.started")).toMatchObject([
      { digest: judged?.digest, approvalId },
    ]);
    expect(ran).toEqual([{ input: other, paths: [createInsidePath("other.md")] }]);
    expect(looked.map(({ input }) => input)).toEqual([WRITE_CALL.input, other]);
  });

  it("Edited arguments which the tool rejects are refused, and the agent gets the reason", async () => {
    const { agent, provider, ran, write } = createWritingAgent("ask");
    const check = ({ path }: JsonObject) => (path === "other.md" ? "path is taken." : undefined);
    const world = await openWorld(agent({ tools: [{ ...write, check }] }));
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.send(answer(approvalId, other));
    await world.waitForEvent("turn.finished");
    const problem = "write was not run: its arguments are wrong. path is taken.";
    expect((await world.listEvents("tool_call.paths_resolved")).at(-1)).toMatchObject({ problem });
    expect(await world.listEvents("policy.decided")).toHaveLength(1);
    expect([ran, await world.listEvents("tool.started")]).toEqual([[], []]);
    expect(readResults(provider.invocations[1]?.input)).toEqual([createToolError("c1", problem)]);
  });

  it("Edited arguments of a tool without paths are validated before they are evaluated", async () => {
    const call = { id: "c1", name: "pay", input: { amount: 7 } };
    const provider = createScriptedProvider([wants(call), says("Well.")]);
    const check = ({ amount }: JsonObject) => (amount === 7 ? undefined : "amount is too much.");
    const pay = { ...createTool({ name: "pay" }, () => "paid"), check };
    const policy = createPolicy([["pay", "ask"]]);
    const world = await openWorld(createAgent({ provider, tools: [pay], policy }));
    await world.prompt("Pay.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.send(answer(approvalId, { amount: 700 }));
    await world.waitForEvent("turn.finished");
    expect(await listTypesSince(world, "approval.resolved")).toEqual([
      "tool_call.paths_resolved",
      "tool.finished",
    ]);
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "refused" });
  });

  it.each<[string, readonly RuleLine[], PathFact["location"]]>([
    [
      "by their content",
      [
        ["write", "deny", 0, { args: [{ name: ["path"], equals: "other.md" }] }],
        ["write", "ask"],
      ],
      "inside",
    ],
    ["by their target", [["write", "ask"]], "outside"],
    ["as Spanline's own", [["write", "ask"]], "protected"],
  ])("Edited arguments do not run if the rules deny them %s [W-02]", async (_, rules, location) => {
    const examine = async ({ paths }: ToolCallToExamine) => {
      const path = paths[0]?.input ?? "";
      const isOther = path === "other.md" && location !== "inside";
      const elsewhere = { location, workspacePath: null, hostPath: "/etc/other.md" };
      return { paths: [{ ...createInsidePath(path), ...(isOther && elsewhere) }] };
    };
    const { agent, provider, ran } = createWritingAgent("ask", {
      examine,
      policy: createPolicy(rules),
    });
    const world = await openWorld(agent());
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    expect(await world.send(answer(approvalId, other))).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    const [, judged] = await world.listEvents("policy.decided");
    expect(judged?.decision).toMatchObject({ action: "deny", context: { paths: [{ location }] } });
    expect([ran, await world.listEvents("tool.started")]).toEqual([[], []]);
    const why = `the rules of this session do not allow it. ${judged?.decision.reason}`;
    expect(readResults(provider.invocations[1]?.input)).toEqual([
      createToolError("c1", `write was not run: ${why}`),
    ]);
  });

  it("Edited arguments which need more approvers are asked about again [W-02]", async () => {
    const isMuch = { args: [{ name: ["amount"], atLeast: 100 }] };
    const policy = createPolicy([
      ["pay", "ask", 2, isMuch],
      ["pay", "ask"],
    ]);
    const call = { id: "c1", name: "pay", input: { amount: 7 } };
    const provider = createScriptedProvider([wants(call), says("Paid.")]);
    const ran: unknown[] = [];
    const pay = createTool({ name: "pay" }, (input) => ran.push(input));
    const world = await openWorld(createAgent({ provider, tools: [pay], policy }));
    await world.prompt("Pay.");
    const { approvalId, approvers } = await world.waitForEvent("approval.requested");
    expect(approvers).toBe(1);
    await world.send(answer(approvalId, { amount: 700 }));
    const approval = await world.waitForEvent("approval.requested", 2);
    expect(approval).toMatchObject({ approvers: 2, input: { amount: 700 } });
    await world.decideApproval(approval.approvalId, "allow");
    expect(ran).toEqual([]);
    const principal = { id: "you", rights: ["approve"] } as const;
    const { approvalId: second } = approval;
    await world.send(
      { type: "decide-approval", approvalId: second, decision: "allow" },
      { principal },
    );
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ amount: 700 }]);
  });

  it("Edited arguments do not run if rules changed during the request deny them [W-02]", async () => {
    const { agent, provider, ran } = createWritingAgent("ask");
    const killed = await openWorld(agent());
    await killed.prompt("Write.");
    const { approvalId } = await killed.waitForEvent("approval.requested");

    // The changed rules ask the same about the original arguments, and deny the edited ones.
    const stricter = createPolicy([
      ["write", "ask"],
      ["write", "deny", 1, { path: ["other.md"] }],
    ]);
    const world = await killed.restart(agent({ policy: stricter }));
    expect(await world.send(answer(approvalId, other))).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    const [firstDecision, judged] = await world.listEvents("policy.decided");
    expect(judged).toMatchObject({ decision: { action: "deny" } });
    expect(judged?.agent).not.toBe(firstDecision?.agent);
    expect([ran, await world.listEvents("tool.started")]).toEqual([[], []]);
    const [result] = readResults(provider.invocations[1]?.input);
    expect(result).toMatchObject({ toolCallId: "c1", isError: true });
  });

  it("Edited arguments are approved for this call only, not for another call with the same arguments", async () => {
    const second = { id: "c2", name: "write", input: other };
    const provider = createScriptedProvider([wants(WRITE_CALL, second), says("Well.")]);
    const { agent, ran } = createWritingAgent("ask", { provider });
    const world = await openWorld(agent());
    await world.prompt("Write.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const { approvalId: still } = await world.waitForEvent("approval.requested", 2);
    await world.send(answer(approvalId, other));
    await world.waitForEvent("tool.finished");
    expect(ran).toHaveLength(1);
    expect(await world.decideApproval(still, "deny")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("Arguments edited just before a kill are evaluated before they run", async () => {
    const { agent, ran } = createWritingAgent("ask");
    // The bridge was killed before their path resolution returned.
    const examine = (call: ToolCallToExamine) =>
      call.input["path"] === "tea.md" ? agent().resolvePaths?.(call) : neverResolves();
    const killed = await openWorld(agent({ examine: (call) => examine(call) ?? neverResolves() }));
    await killed.prompt("Write.");
    const { approvalId } = await killed.waitForEvent("approval.requested");
    await killed.send(answer(approvalId, other));

    const world = await killed.restart(agent());
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ input: other, paths: [createInsidePath("other.md")] }]);
    expect(await world.listEvents("policy.decided")).toMatchObject([
      { decision: { action: "ask" } },
      { decision: { action: "allow" } },
    ]);
  });
});
