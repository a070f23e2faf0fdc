import { describe, expect, it } from "vitest";
import type { CommandReply } from "../../../src/domain/session-command.ts";
import { createGate, type Gate } from "../../support/gate.ts";
import {
  breaks,
  createScriptedProvider,
  says,
  wants,
  type ProviderScript,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";

/** The provider's answer starts, and ends when the gate opens. */
function answersAfter(gate: Gate, answer: ProviderScript): ProviderScript {
  return async function* (signal, call) {
    await gate.pass();
    yield* answer(signal, call);
  };
}

interface Steered {
  readonly world: SessionWorld;
  readonly provider: ScriptedProvider;
  /** Lets the tool of the first step finish. */
  readonly gate: Gate;
}

/** A turn with a tool call in its first step; the tool runs until the gate opens. */
async function startToolTurn(
  answers: readonly ProviderScript[],
  parts: Partial<AgentParts> = {},
  points: readonly ("turn-start" | "tool-results" | "turn-end")[] = [
    "turn-start",
    "tool-results",
    "turn-end",
  ],
): Promise<Steered> {
  const gate = createGate();
  const provider = createScriptedProvider([wants({ id: "c1", name: "look" }), ...answers], {
    injectionPoints: points,
  });
  const look = createTool({ name: "look" }, async () => {
    await gate.pass();
    return "seen";
  });
  const world = await openWorld(createAgent({ provider, tools: [look], ...parts }));
  await world.send({ type: "prompt", content: [{ type: "text", text: "Go" }] });
  await world.waitForEvent("tool.started");
  return { world, provider, gate };
}

function inject(world: SessionWorld, text: string, mode: "steer" | "queue" = "steer") {
  return world.send({ type: "inject", mode, content: [{ type: "text", text }] });
}

function idOf(reply: CommandReply): string {
  if (reply.status !== "accepted" || reply.messageId === undefined)
    throw new Error(`Not accepted: ${JSON.stringify(reply)}`);
  return reply.messageId;
}

describe("A steered message", () => {
  it("A steered message is accepted at once and reaches the model with the next tool results [B-167] [B-169] [ACP-113] [ACP-114]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done.")]);
    const reply = await inject(world, "Use metric units");
    expect(reply).toEqual({
      status: "accepted",
      messageId: expect.stringMatching(/^msg_inj_/),
      deliveredAs: "steer",
      seq: expect.any(Number),
    });
    expect(await world.listEvents("message.sent")).toHaveLength(1);
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(provider.invocations).toHaveLength(2);
    expect(provider.invocations[1]?.input).toMatchObject({
      type: "results",
      texts: ["Use metric units"],
    });
    const sent = await world.listEvents("message.sent");
    expect(sent.filter(({ messageId }) => messageId === idOf(reply))).toEqual([
      {
        type: "message.sent",
        messageId: idOf(reply),
        content: [{ type: "text", text: "Use metric units" }],
        origin: "inject",
      },
    ]);
  });

  it("A message that arrives during the last response continues the turn instead of being lost [ACP-119] [W-15]", async () => {
    const gate = createGate();
    const provider = createScriptedProvider([
      answersAfter(gate, says("First.")),
      says("And second."),
    ]);
    const world = await openWorld(createAgent({ provider }));
    await world.send({ type: "prompt", content: [{ type: "text", text: "Go" }] });
    await world.waitForEvent("invocation.started");
    const reply = await inject(world, "Also the second");
    expect(reply).toMatchObject({ deliveredAs: "steer" });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("turn.started")).toHaveLength(1);
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Also the second"] });
    expect(await world.listEvents("invocation.started")).toMatchObject([
      { purpose: "prompt" },
      { purpose: "injection" },
    ]);
  });

  it("A message without a running turn starts a turn at once [ACP-119]", async () => {
    const provider = createScriptedProvider([says("Hello.")]);
    const world = await openWorld(createAgent({ provider }));
    const reply = await inject(world, "Hello?");
    expect(reply).toMatchObject({ status: "accepted", deliveredAs: "turn" });
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("message.sent")).toMatchObject([
      { messageId: idOf(reply), origin: "inject" },
    ]);
    expect(await world.listEvents("prompt.accepted")).toMatchObject([{ messageId: idOf(reply) }]);
  });

  it("A message that is only for a running turn is refused without one, and nothing is queued [ACP-118]", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([says("Hi.")]) }));
    const content = [{ type: "text", text: "Hello?" }] as const;
    const reply = await world.send({ type: "inject", mode: "steer", content, onlyIntoTurn: true });
    expect(reply).toMatchObject({
      status: "refused",
      failure: { code: "conflict", details: { reason: "no_running_turn" } },
    });
    expect(await world.listEvents("inject.accepted")).toEqual([]);
  });

  it("A message for one turn is refused while another turn runs [ACP-118]", async () => {
    const { world, gate, provider } = await startToolTurn([says("Done.")]);
    const content = [{ type: "text", text: "Hello?" }] as const;
    const [started] = await world.listEvents("turn.started");
    const send = (turnId = "") =>
      world.send({ type: "inject", mode: "steer", content, turnId } as const);
    expect(await send("turn_of_another_prompt")).toMatchObject({
      status: "refused",
      failure: { code: "conflict", details: { reason: "no_running_turn" } },
    });
    expect(await world.listEvents("inject.accepted")).toEqual([]);
    expect(await send(started?.turnId)).toMatchObject({ deliveredAs: "steer" });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(await send(started?.turnId)).toMatchObject({ status: "refused" });
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["Hello?"] });
  });

  it("The reply says that a message waits for the next turn if the provider has no injection point left [ACP-119]", async () => {
    const { world, gate, provider } = await startToolTurn([says("Done."), says("Seen.")], {}, [
      "turn-start",
    ]);
    const reply = await inject(world, "Too late?");
    expect(reply).toMatchObject({ deliveredAs: "queue" });
    gate.open();
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations.map(({ input }) => input)).toMatchObject([
      { texts: ["Go"] },
      { type: "results" },
      { texts: ["Too late?"] },
    ]);
    expect(provider.invocations[1]?.input).not.toHaveProperty("texts");
  });

  it("A message for a turn whose caps are used up is delivered by the next turn [ACP-119]", async () => {
    const gate = createGate();
    const provider = createScriptedProvider([answersAfter(gate, says("One.")), says("Two.")]);
    const world = await openWorld(createAgent({ provider, caps: { steps: 1 } }));
    await world.send({ type: "prompt", content: [{ type: "text", text: "Go" }] });
    await world.waitForEvent("invocation.started");
    expect(await inject(world, "More")).toMatchObject({ deliveredAs: "queue" });
    gate.open();
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("turn.finished")).toMatchObject([
      { outcome: "completed" },
      { outcome: "completed" },
    ]);
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["More"] });
  });

  it("A message for a turn that fails is delivered by the next turn [ACP-119]", async () => {
    const { world, provider, gate } = await startToolTurn([breaks(), says("Fine.")], {
      onLost: "continue",
      caps: { steps: 2 },
    });
    gate.open();
    await world.waitForEvent("invocation.started", 2);
    await inject(world, "Still there?");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations.at(-1)?.input).toMatchObject({
      texts: expect.arrayContaining(["Still there?"]),
    });
  });
});

describe("A queued message", () => {
  it("A queued message starts a separate turn after the running turn, in the order of acceptance [B-170] [ACP-114] [W-15]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done.")]);
    expect(await inject(world, "First", "queue")).toMatchObject({ deliveredAs: "queue" });
    await world.send({ type: "prompt", content: [{ type: "text", text: "Second" }] });
    await inject(world, "Third", "queue");
    gate.open();
    await world.waitForEvent("turn.finished", 4);
    const texts = provider.invocations.slice(2).map(({ input }) => input);
    expect(texts).toMatchObject([
      { texts: ["First"] },
      { texts: ["Second"] },
      { texts: ["Third"] },
    ]);
  });

  it("A queued message survives the cancellation of the running turn [R-010]", async () => {
    const { world, provider } = await startToolTurn([says("Afterwards.")]);
    await inject(world, "Next", "queue");
    await world.send({ type: "cancel" });
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations.at(-1)?.input).toMatchObject({ texts: ["Next"] });
  });
});

describe("Changing a pending message", () => {
  it("A revoked message is never delivered, and a second revocation returns already_revoked [B-172] [B-173] [B-179] [ACP-115]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done.")]);
    const messageId = idOf(await inject(world, "Never mind"));
    expect(await world.send({ type: "revoke-inject", messageId })).toEqual({
      status: "accepted",
      messageId,
      injectionStatus: "revoked",
    });
    expect(await world.send({ type: "revoke-inject", messageId })).toMatchObject({
      injectionStatus: "already_revoked",
    });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(JSON.stringify(provider.invocations)).not.toContain("Never mind");
    expect(await world.listEvents("message.sent")).toHaveLength(1);
  });

  it("A replaced message keeps its id, mode and position, and only the new content is delivered [B-174] [B-179] [ACP-115]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done.")]);
    const messageId = idOf(await inject(world, "Old text"));
    await inject(world, "Later");
    const content = [{ type: "text", text: "New text" }] as const;
    expect(await world.send({ type: "replace-inject", messageId, content })).toEqual({
      status: "accepted",
      messageId,
      injectionStatus: "replaced",
    });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(provider.invocations[1]?.input).toMatchObject({ texts: ["New text", "Later"] });
    expect(JSON.stringify(await world.listEvents("message.sent"))).not.toContain("Old text");
  });

  it("The id of a reminder is unknown to the methods for messages [B-177]", async () => {
    const { world } = await startToolTurn([says("Done.")]);
    const reminder = {
      body: "Mind the time",
      tags: [],
      mode: "finish_step",
      roleHint: "system",
      authority: "contract",
      source: "bridge",
      propagate: "session",
    } as const;
    const reply = await world.send({ type: "remind", reminder });
    const messageId = reply.status === "accepted" ? (reply.reminderId ?? "") : "";
    const content = [{ type: "text", text: "New" }] as const;
    expect(await world.send({ type: "replace-inject", messageId, content })).toMatchObject({
      failure: { details: { reason: "unknown_message_id" } },
    });
  });

  it("All pending messages together have a limit, and a revoked message frees its share", async () => {
    const { world } = await startToolTurn([says("Done.")]);
    const large = "x".repeat(1_000_000);
    const ids = [];
    for (let count = 0; count < 16; count++) ids.push(idOf(await inject(world, large)));
    expect(await inject(world, large)).toMatchObject({
      status: "refused",
      failure: { details: { reason: "queue_full" } },
    });
    await world.send({ type: "revoke-inject", messageId: ids[0] ?? "" });
    expect(await inject(world, large)).toMatchObject({ status: "accepted" });
  });

  it("A change after the delivery, of a revoked or of an unknown message is refused with its reason [B-175] [B-176] [B-177] [ACP-115]", async () => {
    const { world, gate } = await startToolTurn([says("Done.")]);
    const delivered = idOf(await inject(world, "Delivered"));
    const revoked = idOf(await inject(world, "Revoked"));
    await world.send({ type: "revoke-inject", messageId: revoked });
    gate.open();
    await world.waitForEvent("turn.finished");
    const content = [{ type: "text", text: "New" }] as const;
    const reasons = [];
    for (const messageId of [delivered, revoked, "msg_inj_unknown"]) {
      const reply = await world.send({ type: "replace-inject", messageId, content });
      reasons.push(reply.status === "refused" ? reply.failure.details["reason"] : reply);
    }
    expect(reasons).toEqual(["already_delivered", "already_revoked", "unknown_message_id"]);
    const reply = await world.send({ type: "revoke-inject", messageId: delivered });
    expect(reply).toMatchObject({ failure: { details: { reason: "already_delivered" } } });
  });
});
