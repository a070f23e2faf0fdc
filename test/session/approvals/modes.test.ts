import { describe, expect, it } from "vitest";
import type { SessionMode } from "../../../src/domain/session-mode.ts";
import { decide } from "../../../src/session/decide.ts";
import { evolve } from "../../../src/session/evolve.ts";
import { recheckBeforeEffect } from "../../../src/session/runtime/effects/perform-effect.ts";
import type { SessionInput } from "../../../src/session/session-input.ts";
import { initialState, type SessionState } from "../../../src/session/session-state.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { createPolicy } from "../../support/session/create-policy.ts";
import { WRITE_CALL, createWritingAgent } from "../../support/session/writing-agent.ts";

const configure = (mode: SessionMode) => ({ type: "set-mode", mode }) as const;

async function worldIn(mode: SessionMode, rule: "allow" | "ask" | "deny" = "allow") {
  const { agent, ran, provider } = createWritingAgent(rule);
  const world = await openWorld(agent());
  expect(await world.send(configure(mode))).toEqual({ status: "accepted" });
  return { world, ran, provider, agent };
}

async function actions(world: SessionWorld): Promise<readonly string[]> {
  return (await world.listEvents("policy.decided")).map(({ decision }) => decision.action);
}

describe("The session mode", () => {
  it("A mode change is logged with its actor, once", async () => {
    const { world } = await worldIn("ask");
    expect(await world.send(configure("ask"))).toEqual({ status: "accepted" });
    const log = (await world.readLog()).filter(
      ({ event }) => event.type === "session.mode_changed",
    );
    expect(log).toMatchObject([
      {
        actor: { kind: "user", principal: "me" },
        event: { type: "session.mode_changed", mode: "ask" },
      },
    ]);
    expect((await world.sessions.status(world.sessionId)).mode).toBe("ask");
  });

  it("The mode `ask` requests approval for calls allowed by the rules, without offering a grant", async () => {
    const { world, ran } = await worldIn("ask");
    await world.prompt("Write.");
    const approval = await world.waitForEvent("approval.requested");
    expect(approval).toMatchObject({ options: ["allow", "deny"], decision: { action: "ask" } });
    expect(approval).not.toHaveProperty("always");
    expect(ran).toEqual([]);
    await world.decideApproval(approval.approvalId, "allow");
    await world.waitForEvent("turn.finished");
    expect(ran).toHaveLength(1);
    expect(await world.listEvents("policy.decided")).toMatchObject([{ mode: "ask" }]);
  });

  it("The mode `ask` overrides a grant, which applies again in the mode `default`", async () => {
    const provider = createScriptedProvider([
      wants(WRITE_CALL),
      says("One."),
      wants({ ...WRITE_CALL, id: "c2" }),
      says("Two."),
      wants({ ...WRITE_CALL, id: "c3" }),
      says("Three."),
    ]);
    const world = await openWorld(createWritingAgent("ask", { provider }).agent());
    await world.prompt("Write.");
    await world.decideApproval(
      (await world.waitForEvent("approval.requested")).approvalId,
      "allow-always",
    );
    await world.waitForEvent("turn.finished");
    await world.send(configure("ask"));
    await world.prompt("Again.");
    const approval = await world.waitForEvent("approval.requested", 2);
    expect(approval.options).toEqual(["allow", "deny"]);
    await world.decideApproval(approval.approvalId, "allow");
    await world.waitForEvent("turn.finished", 2);
    await world.send(configure("default"));
    await world.prompt("Again.");
    await world.waitForEvent("turn.finished", 3);
    expect(await world.listEvents("approval.requested")).toHaveLength(2);
    expect(await world.listEvents("tool.started")).toHaveLength(3);
  });

  it("The mode `read-only` denies calls which do more than read, and the model gets the reason", async () => {
    const { world, ran, provider } = await worldIn("read-only");
    await world.prompt("Write.");
    const { ending } = await world.waitForEvent("tool.finished");
    await world.waitForEvent("turn.finished");
    expect(ending).toBe("denied");
    expect(ran).toEqual([]);
    const [, answered] = provider.invocations;
    expect(JSON.stringify(answered?.input)).toContain("runs only read-only tools");
  });

  it("The mode `read-only` allows reads which the rules allow", async () => {
    const traits = { kind: "read", sideEffect: "read_only" } as const;
    const read = createTool({ name: "read", traits }, () => "Tea");
    const provider = createScriptedProvider([wants({ id: "c1", name: "read" }), says("Tea.")]);
    const policy = createPolicy([["read", "allow"]]);
    const world = await openWorld(createAgent({ provider, tools: [read], policy }));
    await world.send(configure("read-only"));
    await world.prompt("Read.");
    await world.waitForEvent("turn.finished");
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "succeeded" });
  });

  it("A mode never allows calls which the rules deny", async () => {
    const { world, ran } = await worldIn("ask", "deny");
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    expect(await actions(world)).toEqual(["deny"]);
    expect(ran).toEqual([]);
  });

  it("A mode change withdraws a request it decides, and repeats one it asks differently", async () => {
    const { agent, ran } = createWritingAgent("ask");
    const world = await openWorld(agent());
    await world.prompt("Write.");
    const first = await world.waitForEvent("approval.requested");
    expect(first.options).toEqual(["allow", "allow-always", "deny"]);
    await world.send(configure("ask"));
    expect(await world.waitForEvent("approval.resolved")).toMatchObject({ resolvedBy: "change" });
    const second = await world.waitForEvent("approval.requested", 2);
    expect(second.options).toEqual(["allow", "deny"]);
    await world.send(configure("read-only"));
    expect(await world.waitForEvent("approval.resolved", 2)).toMatchObject({
      resolvedBy: "change",
    });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "denied" });
    expect(ran).toEqual([]);
  });

  it("The mode survives a restart", async () => {
    const { world: killed, agent, ran } = await worldIn("read-only");
    const world = await killed.restart(agent());
    await world.prompt("Write.");
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "denied" });
    expect(ran).toEqual([]);
  });

  it("Clients with the right to prompt can change the mode, but observers cannot", async () => {
    const { agent } = createWritingAgent("allow");
    const world = await openWorld(agent());
    const reader = { id: "reader", rights: ["approve", "control"] } as const;
    const denied = { status: "refused", failure: { code: "access_denied" } };
    expect(await world.send(configure("ask"), { principal: reader })).toMatchObject(denied);
    const observer = { type: "attach", clientId: "o", name: "o", mode: "observer" } as const;
    await world.send(observer, { clientId: "o" });
    expect(await world.send(configure("ask"), { clientId: "o" })).toMatchObject(denied);
    const writer = { id: "writer", rights: ["prompt"] } as const;
    const accepted = { status: "accepted" };
    expect(await world.send(configure("ask"), { principal: writer })).toEqual(accepted);
  });

  it("Widening the mode requires the right to approve", async () => {
    const world = await openWorld(createWritingAgent("allow").agent());
    const writer = { id: "writer", rights: ["prompt"] } as const;
    const denied = { status: "refused", failure: { code: "access_denied" } };
    await world.send(configure("read-only"), { principal: writer });
    for (const wider of ["ask", "default"] as const)
      expect(await world.send(configure(wider), { principal: writer })).toMatchObject(denied);
    const looker = { type: "attach", clientId: "o", name: "o", mode: "observer" } as const;
    await world.send({ ...looker, mayPrompt: true }, { clientId: "o" });
    expect(await world.send(configure("default"), { clientId: "o" })).toMatchObject(denied);
    expect(await world.send(configure("default"))).toEqual({ status: "accepted" });
  });

  it("An unknown mode is refused", async () => {
    const world = await openWorld(createWritingAgent("allow").agent());
    const mode = JSON.parse('"yolo"');
    expect(await world.send({ type: "set-mode", mode })).toMatchObject({
      status: "refused",
      failure: {
        code: "invalid_option",
        message: 'Mode "yolo" does not exist: expected "default", "ask" or "read-only"',
      },
    });
  });
});

describe("A mode change between the logged start of a tool and its run", () => {
  /** A session whose tool start is logged but has not begun. */
  async function started(): Promise<{ state: SessionState; toolCallId: string }> {
    const world = await openWorld(createWritingAgent("allow").agent());
    await world.prompt("Write.");
    await world.waitForEvent("turn.finished");
    const log = await world.readLog();
    const at = log.findIndex(({ event }) => event.type === "tool.started");
    const { toolCallId } = await world.waitForEvent("tool.started");
    return { state: log.slice(0, at + 1).reduce(evolve, initialState), toolCallId };
  }

  it.each([
    ["read-only", "denied"],
    ["ask", "refused"],
  ] as const)("The mode %s applies to a tool which has not begun", async (mode, ending) => {
    const { state, toolCallId } = await started();
    const { digest, spec } = state.agent ?? {};
    if (digest === undefined || spec === undefined) throw new Error("No agent");
    const by = { kind: "user", principal: "me" } as const;
    const rights = ["prompt"] as const;
    const place = { at: state.at, seed: "0" };
    const command = configure(mode);
    let now = decide(state, {
      type: "command-received",
      command,
      actor: by,
      rights,
      ...place,
    }).state;
    const signal = new AbortController();
    const sent: SessionInput[] = [];
    const agent = await recheckBeforeEffect(
      {
        type: "run-tool",
        toolCallId,
        attempt: 1,
        name: "write",
        providerToolCallId: "c1",
        input: {},
      },
      {
        liveAgent: { current: { ...createWritingAgent("allow").agent(), digest } } as never,
        readState: () => now,
        signal: signal.signal,
        async send(happening) {
          sent.push(happening);
          const decided = decide(now, { ...happening, ...place });
          now = decided.state;
          expect(decided.events.map(({ event }) => event)).toContainEqual(
            expect.objectContaining({ type: "tool.finished", toolCallId, ending }),
          );
          signal.abort();
        },
      },
    );
    expect(agent).toBeUndefined();
    expect(sent).toMatchObject([
      { type: "agent-changed", startingTool: { toolCallId, attempt: 1 } },
    ]);
  });

  it("A tool begins if the changed mode still allows it, with a new receipt", async () => {
    const { state, toolCallId } = await started();
    const place = { at: state.at, seed: "0" };
    let now: SessionState = { ...state, mode: "default" };
    const current = createWritingAgent("allow").agent();
    const narrowed = {
      ...now.tools,
      runs: now.tools.runs.map((run) => ({
        ...run,
        evaluation: {
          tool: run.name,
          agent: current.digest,
          mode: "ask",
          digest: run.evaluation?.digest ?? "",
          action: "allow",
        } as const,
      })),
    };
    now = { ...now, tools: narrowed };
    const agent = await recheckBeforeEffect(
      {
        type: "run-tool",
        toolCallId,
        attempt: 1,
        name: "write",
        providerToolCallId: "c1",
        input: {},
      },
      {
        liveAgent: { current } as never,
        readState: () => now,
        signal: new AbortController().signal,
        send: async (happening) => void (now = decide(now, { ...happening, ...place }).state),
      },
    );
    expect(agent).toBe(current);
    expect(now.tools.runs).toMatchObject([{ status: "running", evaluation: { mode: "default" } }]);
  });
});
