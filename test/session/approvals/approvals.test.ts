import { describe, expect, it } from "vitest";
import type { ApprovalDecision } from "../../../src/domain/policy/approval-decision.ts";
import type { JsonObject } from "../../../src/data/json.ts";
import { createToolError, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import type { InvocationInput } from "../../../src/providers/provider.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createPolicy, type RuleLine } from "../../support/session/create-policy.ts";
import {
  says,
  createScriptedProvider,
  wants,
  type ScriptedToolCall,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  ME,
  readUntil,
  createTool,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";

/** An agent with the tools `send` and `pay`. Each step lists the calls of one invocation; an empty step ends a turn. */
function sending(rules: readonly RuleLine[], ...steps: readonly (readonly ScriptedToolCall[])[]) {
  const answers = steps.map((calls) => (calls.length === 0 ? says("Well.") : wants(...calls)));
  const provider = createScriptedProvider([...answers, says("Well.")]);
  const ran: unknown[] = [];
  const tools = ["send", "pay"].map((name) =>
    // A grant covers a tool with these traits independently of its arguments.
    createTool({ name, traits: { kind: "other", sideEffect: "none" } }, (input) => {
      ran.push({ name, input });
      return "done";
    }),
  );
  const agent = (parts: Partial<AgentParts> = {}) =>
    createAgent({ provider, tools, policy: createPolicy(rules), ...parts });
  return { provider, ran, agent };
}

const calling = (name: string, id: string, input: JsonObject = {}): ScriptedToolCall => ({
  id,
  name,
  input,
});

function resultsIn(input: InvocationInput | undefined) {
  return input?.type === "results" ? input.results : [];
}

/** Decides as another principal, who has only the right to approve. */
function answerAs(world: SessionWorld, id: string) {
  const principal = { id, rights: ["approve"] } as const;
  return (approvalId: string, decision: ApprovalDecision, input?: JsonObject) => {
    const inputField = input === undefined ? {} : { input };
    return world.send(
      { type: "decide-approval", approvalId, decision, ...inputField },
      { principal },
    );
  };
}

const ASK = [["*", "ask"]] as const;

describe("Approval requests", () => {
  it("Concurrent approval requests are decided in any order, each on its own [ACP-100]", async () => {
    const calls = ["c1", "c2", "c3"].map((id) => calling("send", id, { to: id }));
    const { agent, provider, ran } = sending(ASK, calls);
    const world = await openWorld(agent());
    await world.prompt("Send.");
    await world.waitForEvent("approval.requested", 3);
    const [first, second, third] = await world.listEvents("approval.requested");
    await world.decideApproval(third?.approvalId ?? "", "allow");
    await world.waitForEvent("tool.finished");
    expect(ran).toEqual([{ name: "send", input: { to: "c3" } }]);
    await world.decideApproval(first?.approvalId ?? "", "deny");
    await world.decideApproval(second?.approvalId ?? "", "allow");
    await world.waitForEvent("turn.finished");
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolError("c1", "send was not run: it was denied."),
      createToolSuccess("c2", "done"),
      createToolSuccess("c3", "done"),
    ]);
  });

  it("Approval requests survive a restart with their ids, for the same tool call [ACP-101]", async () => {
    const { agent, ran } = sending(ASK, [calling("send", "c1"), calling("pay", "c2")]);
    const killed = await openWorld(agent());
    await killed.prompt("Go.");
    await killed.waitForEvent("approval.requested", 2);
    const approval = await killed.listEvents("approval.requested");

    const world = await killed.restart();
    expect(await world.listEvents("approval.requested")).toEqual(approval);
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "waiting" });
    expect(ran).toEqual([]);
    for (const { approvalId } of approval) {
      expect(await world.decideApproval(approvalId, "allow")).toEqual({ status: "accepted" });
      expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
    }
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(2);
  });

  it("A denial is reported to the agent with its reason [ACP-102] [B-116]", async () => {
    const { agent, provider } = sending(ASK, [calling("send", "c1")]);
    const world = await openWorld(agent());
    await world.prompt("Send.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const reason = "Not before noon";
    await world.send({ type: "decide-approval", approvalId, decision: "deny", reason });
    await world.waitForEvent("turn.finished");
    expect(await world.waitForEvent("approval.resolved")).toMatchObject({
      decision: "deny",
      reason,
    });
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolError("c1", `send was not run: it was denied. The reason given: ${reason}`),
    ]);
  });

  it("An approval request of one session does not delay another session [ACP-103]", async () => {
    const { agent } = sending(ASK, [calling("send", "c1")]);
    const other = createAgent({
      provider: createScriptedProvider([says("Hello.")]),
      name: "other",
    });
    const store = createMemoryStore();
    const sessions = createSessions({
      store,
      agents: [agent(), other],
      clock: systemClock,
      owner: "test",
    });
    const from = { principal: ME };
    const prompt = { type: "prompt", content: [{ type: "text", text: "Go." }] } as const;
    const { sessionId: asking } = await sessions.open(from);
    await sessions.command(asking, prompt, from);
    await readUntil(sessions, asking, ({ event }) => event.type === "approval.requested");
    const { sessionId: free } = await sessions.open({ ...from, agent: "other" });
    await sessions.command(free, prompt, from);
    await readUntil(sessions, free, ({ event }) => event.type === "turn.finished");
    // The waiting session still accepts other commands.
    await sessions.command(asking, { type: "set-title", title: "Waiting" }, from);
    expect(await sessions.find(asking)).toMatchObject({ state: "waiting", title: "Waiting" });
    await sessions.close();
  });
});

describe("Approval requests for several people", () => {
  const openRequest = async (count: number) => {
    const rules = [["pay", "ask", count]] as const;
    const { agent, ran, provider } = sending(rules, [calling("pay", "c1", { amount: 7 })]);
    const world = await openWorld(agent());
    await world.prompt("Pay.");
    const request = await world.waitForEvent("approval.requested");
    const { approvalId } = request;
    return { world, ran, provider, approvalId, request };
  };

  it("A request for several approvers is approved after enough different approvals, and offers no grant", async () => {
    const { world, ran, approvalId, request } = await openRequest(2);
    expect(request).toMatchObject({ approvers: 2, options: ["allow", "deny"] });
    expect(await answerAs(world, "ada")(approvalId, "allow")).toEqual({ status: "accepted" });
    const vote = await world.waitForEvent("approval.voted");
    const { digest } = await world.waitForEvent("policy.decided");
    expect(vote).toEqual({
      type: "approval.voted",
      approvalId,
      principal: "ada",
      decision: "allow",
      digest,
    });
    expect([ran, await world.listEvents("approval.resolved")]).toEqual([[], []]);
    expect(await answerAs(world, "bob")(approvalId, "allow-always")).toMatchObject({
      status: "refused",
      failure: { code: "invalid_option" },
    });
    expect(await answerAs(world, "bob")(approvalId, "allow")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    const { decision: receipt } = await world.waitForEvent("approval.requested");
    expect(await world.listEvents("approval.resolved")).toEqual([
      {
        type: "approval.resolved",
        approvalId,
        decision: "allow",
        resolvedBy: "person",
        principals: ["ada", "bob"],
        receipt,
      },
    ]);
    expect(await world.listEvents("tool.started")).toMatchObject([{ approvalId, digest }]);
    expect(ran).toHaveLength(1);
  });

  it("An approver is not counted twice", async () => {
    const { world, ran, approvalId } = await openRequest(2);
    const ada = answerAs(world, "ada");
    await ada(approvalId, "allow");
    for (const input of [undefined, { amount: 7 }]) {
      expect(await ada(approvalId, "allow", input)).toMatchObject({
        status: "refused",
        failure: { code: "conflict" },
      });
    }
    expect(await ada(approvalId, "allow", { amount: 8 })).toEqual({ status: "accepted" });
    expect([ran, await world.listEvents("approval.resolved")]).toEqual([[], []]);
  });

  it("The status has open requests as logged, with the votes so far, also after a restart", async () => {
    const { world, approvalId, request } = await openRequest(3);
    await answerAs(world, "ada")(approvalId, "allow");
    await answerAs(world, "bob")(approvalId, "allow", { amount: 8 });
    await answerAs(world, "ada")(approvalId, "allow", { amount: 8 });
    const [, ...votes] = await world.listEvents("approval.voted");
    const { sessionId, sessions, store } = world;
    expect((await sessions.status(sessionId)).openApprovals).toEqual([
      { requestedAt: expect.any(Number), request, votes },
    ]);
    expect(await store.findSession(sessionId)).toMatchObject({ state: "waiting" });
    const next = await world.restart();
    expect((await next.sessions.status(sessionId)).openApprovals).toMatchObject([
      { request, votes },
    ]);
    await answerAs(next, "cid")(approvalId, "deny");
    await next.waitForEvent("turn.finished");
    expect((await next.sessions.status(sessionId)).openApprovals).toEqual([]);
  });

  it("An approver can switch to another approver's arguments, which every client can see", async () => {
    const { world, ran, approvalId } = await openRequest(2);
    await answerAs(world, "ada")(approvalId, "allow");
    await answerAs(world, "bob")(approvalId, "allow", { amount: 8 });
    expect(await world.listEvents("approval.voted")).toMatchObject([{}, { input: { amount: 8 } }]);
    await answerAs(world, "ada")(approvalId, "allow", { amount: 8 });
    await world.waitForEvent("turn.finished");
    expect(ran).toMatchObject([{ name: "pay", input: { amount: 8 } }]);
  });

  it("One denial closes a request for several approvers", async () => {
    const { world, ran, provider, approvalId } = await openRequest(3);
    await answerAs(world, "ada")(approvalId, "allow");
    await answerAs(world, "bob")(approvalId, "deny");
    expect(await answerAs(world, "cid")(approvalId, "allow")).toMatchObject({ status: "refused" });
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolError("c1", "pay was not run: it was denied."),
    ]);
  });

  it("Only approvals of the same arguments are counted together", async () => {
    const { world, ran, approvalId } = await openRequest(2);
    await answerAs(world, "ada")(approvalId, "allow", { amount: 8 });
    await answerAs(world, "bob")(approvalId, "allow");
    await answerAs(world, "cid")(approvalId, "allow", { amount: 9 });
    expect([ran, await world.listEvents("approval.resolved")]).toEqual([[], []]);
    await answerAs(world, "dan")(approvalId, "allow", { amount: 8 });
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("approval.resolved")).toMatchObject([
      { principals: ["ada", "dan"] },
    ]);
    expect(ran).toEqual([{ name: "pay", input: { amount: 8 } }]);
  });

  it("Approvals given so far survive a restart", async () => {
    const { world: killed, ran, approvalId } = await openRequest(2);
    await answerAs(killed, "ada")(approvalId, "allow");
    const world = await killed.restart();
    expect(await answerAs(world, "ada")(approvalId, "allow")).toMatchObject({ status: "refused" });
    await answerAs(world, "bob")(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("A second run of a tool needs all approvals again", async () => {
    const provider = createScriptedProvider([wants(calling("pay", "c1")), says("Well.")]);
    let runs = 0;
    const pay = createTool({ name: "pay" }, (_, context) => {
      runs += 1;
      context.progress("paying");
      return runs === 1 ? new Promise(() => undefined) : "paid";
    });
    const policy = createPolicy([["pay", "ask", 2]]);
    // The cap counts tool calls: a request about a started call is not a new one.
    const caps = { toolCalls: 1 };
    const killed = await openWorld(createAgent({ provider, tools: [pay], policy, caps }));
    await killed.prompt("Pay.");
    const { approvalId } = await killed.waitForEvent("approval.requested");
    await answerAs(killed, "ada")(approvalId, "allow");
    await answerAs(killed, "bob")(approvalId, "allow");
    await killed.waitForEvent("tool.progress");

    const world = await killed.restart();
    const lost = await world.waitForEvent("approval.requested", 2);
    expect(lost).toMatchObject({ question: "outcome", approvers: 2, attempt: 2 });
    await answerAs(world, "ada")(lost.approvalId, "run-again");
    expect(await world.waitForEvent("approval.voted", 2)).toMatchObject({ decision: "run-again" });
    expect(runs).toBe(1);
    await answerAs(world, "bob")(lost.approvalId, "run-again");
    await world.waitForEvent("turn.finished");
    expect(runs).toBe(2);
  });
});

describe("Permanent grants", () => {
  const openGrantedWorld = async (
    rules: readonly RuleLine[],
    ...steps: readonly (readonly ScriptedToolCall[])[]
  ) => {
    const made = sending(rules, [calling("send", "c1", { to: "a" })], ...steps);
    const world = await openWorld(made.agent());
    await world.prompt("Send.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.decideApproval(approvalId, "allow-always");
    const grant = await world.waitForEvent("grant.added");
    return { ...made, world, approvalId, grant };
  };

  it("A grant lets calls of the same scope run without a request, and each receipt names the grant [ACP-99]", async () => {
    const { world, grant, approvalId, ran } = await openGrantedWorld(ASK, [
      calling("send", "c2", { to: "b" }),
    ]);
    await world.waitForEvent("turn.finished");
    const { decision } = await world.waitForEvent("policy.decided");
    expect(grant).toEqual({
      type: "grant.added",
      grantId: expect.stringMatching(/^grant_/),
      approvalId,
      scope: { tool: "send", rule: decision.rule },
    });
    expect(await world.listEvents("approval.requested")).toHaveLength(1);
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      grantId: grant.grantId,
      decision: { action: "allow", approvers: 0 },
    });
    expect(ran).toHaveLength(2);
  });

  it.each([
    ["has no traits", {}],
    ["uses the network", { traits: { kind: "fetch", sideEffect: "network" } }],
    ["writes to undeclared paths", { traits: { kind: "edit", sideEffect: "workspace_write" } }],
  ] as const)(
    "A grant for a tool that %s covers only the same arguments [ACP-99]",
    async (_, facts) => {
      const run = (id: string, shell: string) => calling("shell", id, { shell });
      const provider = createScriptedProvider([
        wants(run("c1", "ls")),
        wants(run("c2", "ls")),
        wants(run("c3", "rm -rf ~")),
        says("Well."),
      ]);
      const ran: unknown[] = [];
      const shell = createTool({ name: "shell", ...facts }, (input) => ran.push(input));
      const world = await openWorld(
        createAgent({ provider, tools: [shell], policy: createPolicy(ASK) }),
      );
      await world.prompt("Look.");
      const { approvalId, grantLabel } = await world.waitForEvent("approval.requested");
      expect(grantLabel).toBe("shell with just these arguments");
      await world.decideApproval(approvalId, "allow-always");
      const next = await world.waitForEvent("approval.requested", 2);
      expect([next.input, ran.length]).toEqual([{ shell: "rm -rf ~" }, 2]);
    },
  );

  it("A grant does not cover another tool, even if the same rule asks [ACP-99]", async () => {
    const { world, ran } = await openGrantedWorld(ASK, [calling("pay", "c2")]);
    expect(await world.waitForEvent("approval.requested", 2)).toMatchObject({ action: "pay" });
    expect(ran).toHaveLength(1);
  });

  it("A grant for a command covers only this command [ACP-99]", async () => {
    const run = (id: string, command: string) => calling("shell", id, { command });
    const provider = createScriptedProvider([
      wants(run("c1", "echo rm -r .")),
      wants(run("c2", "echo rm -r .")),
      wants(run("c3", "echo\nrm -r .")),
      says("Well."),
    ]);
    const ran: unknown[] = [];
    const traits = { kind: "execute", sideEffect: "process_exec" } as const;
    const shell = createTool({ name: "shell", traits }, ({ command }) => ran.push(command));
    const world = await openWorld(
      createAgent({ provider, tools: [shell], policy: createPolicy(ASK) }),
    );
    await world.prompt("Look.");
    await world.decideApproval(
      (await world.waitForEvent("approval.requested")).approvalId,
      "allow-always",
    );
    expect(await world.waitForEvent("approval.requested", 2)).toMatchObject({
      input: { command: "echo\nrm -r ." },
    });
    expect(ran).toEqual(["echo rm -r .", "echo rm -r ."]);
    const { digest } = await world.waitForEvent("policy.decided");
    expect(await world.waitForEvent("grant.added")).toMatchObject({
      scope: { tool: "shell", command: "echo rm -r .", digest },
    });
  });

  it("A grant for one rule does not satisfy a second rule which also asks", async () => {
    const isFar = { args: [{ name: ["to"], equals: "all" }] };
    const rules = [
      ["send", "ask"],
      ["send", "ask", 1, isFar],
    ] as const;
    const { world, ran } = await openGrantedWorld(
      rules,
      [calling("send", "c2", { to: "b" })],
      [calling("send", "c3", { to: "all" })],
    );
    const { input, approvalId } = await world.waitForEvent("approval.requested", 2);
    expect([input, ran.length]).toEqual([{ to: "all" }, 2]);
    await world.decideApproval(approvalId, "allow-always");
    await world.waitForEvent("turn.finished");
    expect((await world.listEvents("grant.added")).map(({ scope }) => scope.otherRules)).toEqual([
      undefined,
      [expect.objectContaining({ index: 1 })],
    ]);
  });

  it("A grant does not exceed the repeat limit of the policy", async () => {
    const steps = ["c1", "c2", "c3"].map((id) => [calling("send", id)]);
    const { agent, ran } = sending([], ...steps);
    const world = await openWorld(agent({ policy: createPolicy(ASK, { repeatLimit: 2 }) }));
    await world.prompt("Send.");
    await world.decideApproval(
      (await world.waitForEvent("approval.requested")).approvalId,
      "allow-always",
    );
    const approval = await world.waitForEvent("approval.requested", 2);
    expect(approval.decision?.labels).toContain("repeated_call");
    expect(ran).toHaveLength(2);
  });

  const nextTurn = async (world: SessionWorld): Promise<void> => {
    const { length } = await world.listEvents("turn.started");
    await world.waitForEvent("turn.finished", length);
    await world.prompt("Again.");
  };

  it("A grant survives a restart, and changes of the agent outside its rules", async () => {
    const steps = [[], [calling("send", "c2")], [], [calling("send", "c3")]];
    const { world: killed, agent, ran } = await openGrantedWorld(ASK, ...steps);
    await killed.waitForEvent("turn.finished");
    const world = await killed.restart();
    await world.prompt("Again.");
    await world.waitForEvent("turn.finished", 2);
    expect(ran).toHaveLength(2);

    const changed = await world.restart(agent({ approvalMs: 1000 }));
    await changed.prompt("Again.");
    await changed.waitForEvent("turn.finished", 3);
    expect(ran).toHaveLength(3);
    expect(await changed.listEvents("agent.configured")).toHaveLength(2);
    expect(await changed.listEvents("approval.requested")).toHaveLength(1);
  });

  it("A principal with the right to approve can revoke a grant, and calls need approval again", async () => {
    const { world, grant, ran } = await openGrantedWorld(ASK, [], [calling("send", "c2")]);
    const revoke = { type: "revoke-grant", grantId: grant.grantId } as const;
    const guest = { id: "guest", rights: ["prompt", "control"] } as const;
    expect(await world.send(revoke, { principal: guest })).toMatchObject({
      status: "refused",
      failure: { code: "access_denied" },
    });
    expect(await world.send(revoke)).toEqual({ status: "accepted" });
    expect(await world.send(revoke)).toMatchObject({
      status: "refused",
      failure: { code: "not_found" },
    });
    await nextTurn(world);
    expect(await world.waitForEvent("approval.requested", 2)).toMatchObject({ action: "send" });
    expect(ran).toHaveLength(1);
  });

  it("A revoked grant no longer applies to a call waiting to start", async () => {
    let runs = 0;
    let finish: (output: string) => void = () => undefined;
    const send = createTool({ name: "send" }, (_, context) => {
      runs += 1;
      context.progress("sending");
      return runs === 1 ? "sent" : new Promise((resolve) => void (finish = resolve));
    });
    const provider = createScriptedProvider([
      wants(calling("send", "c1")),
      wants(calling("send", "c2"), calling("send", "c3")),
      says("Well."),
    ]);
    const caps = { parallelTools: 1 };
    const world = await openWorld(
      createAgent({ provider, tools: [send], policy: createPolicy(ASK), caps }),
    );
    await world.prompt("Send.");
    await world.decideApproval(
      (await world.waitForEvent("approval.requested")).approvalId,
      "allow-always",
    );
    const { grantId } = await world.waitForEvent("grant.added");
    await world.waitForEvent("tool.progress", 2);
    expect((await world.listEvents("policy.decided")).slice(1)).toMatchObject([
      { grantId },
      { grantId },
    ]);
    await world.send({ type: "revoke-grant", grantId });
    finish("sent");
    const { approvalId } = await world.waitForEvent("approval.requested", 2);
    expect((await world.listEvents("policy.decided")).at(-1)).toMatchObject({
      decision: { action: "ask" },
    });
    expect(runs).toBe(2);
    await world.decideApproval(approvalId, "deny");
    await world.waitForEvent("turn.finished");
    expect(runs).toBe(2);
  });

  it("A second grant for the same scope is not added, so one revocation suffices", async () => {
    const both = [calling("send", "c1"), calling("send", "c2")];
    const { agent } = sending(ASK, both, [], [calling("send", "c3")]);
    const world = await openWorld(agent());
    await world.prompt("Send.");
    await world.waitForEvent("approval.requested", 2);
    for (const { approvalId } of await world.listEvents("approval.requested")) {
      expect(await world.decideApproval(approvalId, "allow-always")).toEqual({
        status: "accepted",
      });
    }
    await world.waitForEvent("turn.finished");
    const [grant, ...others] = await world.listEvents("grant.added");
    expect(others).toEqual([]);
    await world.send({ type: "revoke-grant", grantId: grant?.grantId ?? "" });
    await nextTurn(world);
    await world.waitForEvent("approval.requested", 3);
  });

  it("A grant does not resolve approval requests which are already open", async () => {
    const both = [calling("send", "c1"), calling("send", "c2")];
    const { agent, ran } = sending(ASK, both);
    const world = await openWorld(agent());
    await world.prompt("Send.");
    const { approvalId } = await world.waitForEvent("approval.requested", 2);
    await world.decideApproval(
      (await world.waitForEvent("approval.requested")).approvalId,
      "allow-always",
    );
    await world.waitForEvent("tool.finished");
    expect(ran).toHaveLength(1);
    expect(await world.decideApproval(approvalId, "deny")).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
  });

  it("`allow-always` with edited arguments allows only this call", async () => {
    const { agent, ran } = sending(ASK, [calling("send", "c1")], [calling("send", "c2")]);
    const world = await openWorld(agent());
    await world.prompt("Send.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    const input = { to: "me" };
    await world.send({ type: "decide-approval", approvalId, decision: "allow-always", input });
    await world.waitForEvent("approval.requested", 2);
    expect(ran).toEqual([{ name: "send", input }]);
    expect(await world.listEvents("grant.added")).toEqual([]);
  });

  it.each<[string, readonly RuleLine[], "deny" | "ask"]>([
    ["A denying rule", [["send", "deny"]], "deny"],
    ["Another rule at the same position", [["send", "ask"]], "ask"],
    ["A rule with two approvers", [["*", "ask", 2]], "ask"],
  ])("%s revokes the grants given under other rules", async (_, rules, action) => {
    const {
      world: killed,
      agent,
      grant,
      ran,
    } = await openGrantedWorld(ASK, [], [calling("send", "c2")]);
    await killed.waitForEvent("turn.finished");
    const world = await killed.restart(agent({ policy: createPolicy(rules) }));
    await world.prompt("Again.");
    const { decision } = await world.waitForEvent("policy.decided", 2);
    expect(decision.action).toBe(action);
    expect(await world.listEvents("grant.revoked")).toEqual([
      { type: "grant.revoked", grantId: grant.grantId },
    ]);
    expect(ran).toHaveLength(1);
  });
});
