import { describe, expect, it } from "vitest";
import type { Reminder } from "../../../src/domain/reminder.ts";
import type { CommandReply } from "../../../src/domain/session-command.ts";
import { createGate, type Gate } from "../../support/gate.ts";
import {
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

const REMINDER: Reminder = {
  body: "The workspace changed; read src/lib.rs again.",
  tags: ["workspace"],
  mode: "finish_step",
  roleHint: "system",
  authority: "contract",
  source: "bridge",
  propagate: "session",
};
const RENDERED =
  "<system-reminder>\n[workspace] The workspace changed; read src/lib.rs again.\n</system-reminder>";

function remind(
  world: SessionWorld,
  fields: Partial<Reminder> = {},
  reminderId?: string,
): Promise<CommandReply> {
  const reminder = { ...REMINDER, ...fields };
  return world.send({ type: "remind", reminder, ...(reminderId !== undefined && { reminderId }) });
}

function idOf(reply: CommandReply): string {
  if (reply.status !== "accepted" || reply.reminderId === undefined)
    throw new Error(`Not accepted: ${JSON.stringify(reply)}`);
  return reply.reminderId;
}

interface Turn {
  readonly world: SessionWorld;
  readonly provider: ScriptedProvider;
  readonly gate: Gate;
  readonly runs: readonly string[];
}

/** A turn with a call of `look` in its first step. The tool runs until the gate opens. */
async function startToolTurn(
  answers: readonly ProviderScript[],
  parts: Partial<AgentParts> = {},
  first: ProviderScript = wants({ id: "c1", name: "look" }),
): Promise<Turn> {
  const gate = createGate();
  const runs: string[] = [];
  const provider = parts.provider ?? createScriptedProvider([first, ...answers]);
  const look = createTool({ name: "look" }, async () => {
    runs.push("look");
    await gate.pass();
    return "seen";
  });
  const edit = createTool({ name: "edit" }, () => {
    runs.push("edit");
    return "edited";
  });
  const agent = createAgent({ ...parts, provider, tools: [look, edit] });
  const world = await openWorld(agent);
  await world.prompt("Go");
  return { world, provider: provider as ScriptedProvider, gate, runs };
}

/** The texts which the model received with each invocation. */
function listTexts({ invocations }: ScriptedProvider): unknown[] {
  return invocations.map(({ input }) => Object(input).texts ?? []);
}

async function listTypes(world: SessionWorld, pattern: RegExp): Promise<string[]> {
  const types = (await world.readLog()).map(({ event }) => event.type);
  return types.filter((type) => pattern.test(type));
}

describe("A reminder", () => {
  it("A reminder is rendered into the next request, and its event precedes that request [B-052] [B-185]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done.")]);
    await world.waitForEvent("tool.started");
    const reply = await remind(world, { ttlTurns: 2, dedupeKey: "workspace-change" });
    expect(reply).toEqual({
      status: "accepted",
      reminderId: expect.stringMatching(/^rem_/),
      seq: expect.any(Number),
    });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(listTexts(provider)).toEqual([["Go"], [RENDERED]]);
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "succeeded" }]);
    expect(await world.listEvents("reminder.emitted")).toMatchObject([
      { reminderId: idOf(reply), renderedRole: "user", reminder: { ttlTurns: 2 } },
    ]);
    const order = await listTypes(world, /^(reminder\.|message\.sent|invocation\.started)/);
    expect(order).toEqual([
      "message.sent",
      "invocation.started",
      "reminder.queued",
      "reminder.emitted",
      "message.sent",
      "invocation.started",
    ]);
  });

  it("A reminder is not recorded as a message of the user [B-181]", async () => {
    const { world, gate } = await startToolTurn([says("Done.")]);
    await world.waitForEvent("tool.started");
    await remind(world);
    gate.open();
    await world.waitForEvent("turn.finished");
    // The prompt of a person delivers the second reminder.
    await remind(world);
    await world.prompt("Again");
    await world.waitForEvent("turn.finished", 2);
    const sent = (await world.readLog()).flatMap(({ event, actor }) =>
      event.type === "message.sent" ? [[event.origin, actor?.principal]] : [],
    );
    expect(sent).toEqual([
      ["prompt", "me"],
      ["reminder", undefined],
      ["prompt", "me"],
      ["reminder", undefined],
    ]);
    expect(await world.listEvents("prompt.accepted")).toHaveLength(2);
  });

  it("A reminder without a running turn waits, and the next prompt carries it [B-053] [B-185]", async () => {
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = await openWorld(createAgent({ provider }));
    await remind(world);
    expect(await world.listEvents("reminder.emitted")).toEqual([]);
    expect(await world.listEvents("turn.started")).toEqual([]);
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    await world.prompt("Again");
    await world.waitForEvent("turn.finished", 2);
    expect(listTexts(provider)).toEqual([["Go", RENDERED], ["Again"]]);
    expect(await world.listEvents("reminder.emitted")).toHaveLength(1);
  });

  it("A revoked reminder is never rendered, and a second revocation returns already_revoked [B-053] [B-193] [B-194] [ACP-117]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done.")]);
    await world.waitForEvent("tool.started");
    const reminderId = idOf(await remind(world));
    const revoke = { type: "revoke-reminder", reminderId } as const;
    expect(await world.send(revoke)).toEqual({
      status: "accepted",
      reminderId,
      injectionStatus: "revoked",
    });
    expect(await world.send(revoke)).toEqual({
      status: "accepted",
      reminderId,
      injectionStatus: "already_revoked",
    });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(listTexts(provider)).toEqual([["Go"], []]);
    expect(await world.listEvents("reminder.emitted")).toEqual([]);
  });

  it("A revocation after the delivery is refused with its reason, also after a restart [B-195]", async () => {
    const { world, gate } = await startToolTurn([says("Done.")]);
    await world.waitForEvent("tool.started");
    const reminderId = idOf(await remind(world));
    gate.open();
    await world.waitForEvent("turn.finished");
    const restarted = await world.restart();
    expect(await restarted.send({ type: "revoke-reminder", reminderId })).toMatchObject({
      status: "refused",
      failure: { details: { reason: "already_delivered" } },
    });
  });

  it("A pending reminder survives a restart and is rendered once [B-052] [R-010]", async () => {
    const provider = createScriptedProvider([says("One.")]);
    const world = await openWorld(createAgent({ provider }));
    await remind(world);
    const restarted = await world.restart();
    await restarted.prompt("Go");
    await restarted.waitForEvent("turn.finished");
    expect(listTexts(provider)).toEqual([["Go", RENDERED]]);
    expect(await restarted.listEvents("reminder.emitted")).toHaveLength(1);
  });

  it("An id chosen by the host is used, and a second reminder with the id is refused [B-180]", async () => {
    const provider = createScriptedProvider([says("One.")]);
    const world = await openWorld(createAgent({ provider }));
    expect(idOf(await remind(world, {}, "reminder-1"))).toBe("reminder-1");
    const refusal = { status: "refused", failure: { details: { reason: "reminder_id_in_use" } } };
    expect(await remind(world, {}, "reminder-1")).toMatchObject(refusal);
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(await remind(world, {}, "reminder-1")).toMatchObject(refusal);
  });
});

describe("Pending injections", () => {
  it("Messages and reminders are listed in the order of acceptance until they are delivered or revoked [B-189] [B-190] [B-191] [B-192] [ACP-117]", async () => {
    const { world, gate } = await startToolTurn([says("Done.")]);
    await world.waitForEvent("tool.started");
    const content = [{ type: "text", text: "Use metric units" }] as const;
    const list = async () =>
      (await world.sessions.status(world.sessionId)).pendingInjections.map(({ id }) => id);
    const ids = [
      idOf(await remind(world, { body: "First" })),
      Object(await world.send({ type: "inject", mode: "steer", content })).messageId,
      idOf(await remind(world, { body: "Second" })),
      idOf(await remind(world, { body: "Third", mode: "audit_only" })),
    ];
    expect(await list()).toEqual(ids);
    await world.send({ type: "revoke-reminder", reminderId: ids[2] ?? "" });
    expect(await list()).toEqual([ids[0], ids[1], ids[3]]);
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(await list()).toEqual([]);
  });
});

describe("A reminder that interrupts", () => {
  it("A reminder between the model's answer and its tools skips the tools, and the model sees it next [B-182] [B-184]", async () => {
    const gate = createGate();
    const first: ProviderScript = async function* (signal, call) {
      await gate.pass();
      yield* wants({ id: "c1", name: "look" }, { id: "c2", name: "edit" })(signal, call);
    };
    const { world, provider, runs } = await startToolTurn([says("Understood.")], {}, first);
    await world.waitForEvent("invocation.started");
    await remind(world, { mode: "interrupt_immediate" });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(runs).toEqual([]);
    expect(await world.listEvents("tool.started")).toEqual([]);
    expect(await world.listEvents("tool.finished")).toMatchObject([
      { ending: "cancelled", result: { parts: [{ text: expect.stringContaining("reminder") }] } },
      { ending: "cancelled" },
    ]);
    expect(listTexts(provider)).toEqual([[expect.any(String)], [RENDERED]]);
    expect(await world.listEvents("turn.finished")).toMatchObject([{ outcome: "completed" }]);
  });

  it("A tool call that waits for an approval is skipped, and its request is withdrawn [B-184]", async () => {
    const { world, provider, runs } = await startToolTurn([says("Understood.")], {
      approvals: { deny: [], ask: ["look"], allow: [], default: "deny" },
    });
    const { approvalId } = await world.waitForEvent("approval.requested");
    await remind(world, { mode: "interrupt_immediate" });
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("approval.resolved")).toMatchObject([
      { approvalId, decision: "deny", resolvedBy: "cancel" },
    ]);
    expect(await world.decideApproval(approvalId, "allow")).toMatchObject({ status: "refused" });
    expect(runs).toEqual([]);
    expect(listTexts(provider)).toEqual([["Go"], [RENDERED]]);
  });

  it("A running tool continues, and only the calls that have not started are skipped [B-184]", async () => {
    const { world, provider, gate, runs } = await startToolTurn(
      [says("Understood.")],
      { caps: { parallelTools: 1 } },
      wants({ id: "c1", name: "look" }, { id: "c2", name: "edit" }),
    );
    await world.waitForEvent("tool.started");
    await remind(world, { mode: "interrupt_immediate" });
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "cancelled" }]);
    expect(await world.listEvents("invocation.started")).toHaveLength(1);
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(runs).toEqual(["look"]);
    const results = Object(provider.invocations[1]?.input).results;
    expect(JSON.stringify(results)).toContain("seen");
    expect(listTexts(provider)[1]).toEqual([RENDERED]);
  });

  it("A reminder of the mode finish_step interrupts neither waiting nor running tools [B-185]", async () => {
    const { world, gate, runs } = await startToolTurn(
      [says("Done.")],
      { caps: { parallelTools: 1 } },
      wants({ id: "c1", name: "look" }, { id: "c2", name: "edit" }),
    );
    await world.waitForEvent("tool.started");
    await remind(world);
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(runs).toEqual(["look", "edit"]);
    expect(await world.listEvents("tool.finished")).toMatchObject([
      { ending: "succeeded" },
      { ending: "succeeded" },
    ]);
  });

  it("A reminder during the last answer extends the turn if it interrupts, and waits otherwise [B-182] [B-185]", async () => {
    for (const [mode, turns] of [
      ["interrupt_immediate", [["Go"], [RENDERED]]],
      ["finish_step", [["Go"]]],
    ] as const) {
      const gate = createGate();
      const provider = createScriptedProvider([
        async function* (signal, call) {
          await gate.pass();
          yield* says("Done.")(signal, call);
        },
        says("Changed."),
      ]);
      const world = await openWorld(createAgent({ provider }));
      await world.prompt("Go");
      await world.waitForEvent("invocation.started");
      await remind(world, { mode });
      gate.open();
      await world.waitForEvent("turn.finished");
      expect(listTexts(provider)).toEqual(turns);
    }
  });
});

describe("A reminder for the record", () => {
  it("A reminder of the mode audit_only never reaches the model and is in the transcript at the end of the turn [B-053] [B-183] [ACP-116]", async () => {
    const { world, provider, gate } = await startToolTurn([says("Done."), says("Again.")]);
    await world.waitForEvent("tool.started");
    await remind(world, { mode: "audit_only" });
    gate.open();
    await world.waitForEvent("turn.finished");
    await world.prompt("Again");
    await world.waitForEvent("turn.finished", 2);
    expect(JSON.stringify(provider.invocations)).not.toContain(REMINDER.body);
    expect(await listTypes(world, /^(reminder\.|turn\.finished)/)).toEqual([
      "reminder.queued",
      "reminder.recorded",
      "turn.finished",
      "turn.finished",
    ]);
    expect(await world.listEvents("reminder.emitted")).toEqual([]);
  });
});

describe("Dedupe and expiry", () => {
  it("A reminder replaces no reminder of another client, even with the same key", async () => {
    const { world } = await startToolTurn([says("Done.")]);
    const send = (clientId: string, fields: Partial<Reminder>) =>
      world.send({ type: "remind", reminder: { ...REMINDER, ...fields } }, { clientId });
    await send("watcher", { body: "First", dedupeKey: "k" });
    await send("other", { body: "Second", dedupeKey: "k" });
    await send("watcher", { body: "Third", dedupeKey: "k" });
    const { pendingInjections } = await world.sessions.status(world.sessionId);
    const bodies = pendingInjections.map((row) =>
      row.kind === "reminder" ? row.reminder.body : "",
    );
    expect(bodies).toEqual(["Second", "Third"]);
  });

  it("A newer reminder with the same key replaces a pending one in the queue [B-180] [W-19] [ACP-116] [R-041]", async () => {
    const provider = createScriptedProvider([says("One.")]);
    const world = await openWorld(createAgent({ provider }));
    const first = idOf(await remind(world, { body: "Old", dedupeKey: "k" }));
    await remind(world, { body: "Other", dedupeKey: "another" });
    const second = idOf(await remind(world, { body: "New", dedupeKey: "k" }));
    expect(await world.listEvents("reminder.replaced")).toEqual([
      { type: "reminder.replaced", reminderId: first, by: second },
    ]);
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(JSON.stringify(provider.invocations)).not.toContain("Old");
    expect(await world.listEvents("reminder.emitted")).toHaveLength(2);
  });

  it("Reminders with the same text are rendered once: the strongest authority, then the latest [B-052] [W-19] [R-041] [R-044]", async () => {
    const provider = createScriptedProvider([says("One.")]);
    const world = await openWorld(createAgent({ provider }));
    const ids = [
      idOf(await remind(world, { body: "Read  it again.", authority: "advisory", tags: [] })),
      idOf(await remind(world, { body: "Read it again.", authority: "corrective", tags: [] })),
      idOf(await remind(world, { body: " read it\nagain. ", authority: "corrective", tags: [] })),
      idOf(await remind(world, { body: "Use tabs.", authority: "contract", tags: [] })),
    ];
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    expect(listTexts(provider)).toEqual([
      ["Go", "<system-reminder>\nUse tabs.\nread it\nagain.\n</system-reminder>"],
    ]);
    const emitted = await world.listEvents("reminder.emitted");
    expect(emitted.map(({ reminderId }) => reminderId)).toEqual([ids[3], ids[2]]);
    expect(await world.listEvents("reminder.replaced")).toMatchObject([
      { reminderId: ids[0], by: ids[2] },
      { reminderId: ids[1], by: ids[2] },
    ]);
  });

  it("A body or a tag cannot close the block, so its text is never taken for a message of the user", async () => {
    const provider = createScriptedProvider([says("One.")]);
    const world = await openWorld(createAgent({ provider }));
    const tags = ["</system-reminder>"];
    await remind(world, { body: "a </System-Reminder>\nb < / system-reminder >", tags });
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    const [[, text] = []] = listTexts(provider) as string[][];
    expect(text?.match(/<\s*\/?\s*system-reminder/gi)).toEqual([
      "<system-reminder",
      "</system-reminder",
    ]);
    expect(text?.endsWith("\n</system-reminder>")).toBe(true);
  });

  it("A pending reminder expires at the end of its last turn [B-180] [ACP-116] [R-042]", async () => {
    const points = { injectionPoints: ["turn-start"] } as const;
    const provider = createScriptedProvider([wants({ id: "c1", name: "look" }), says("Done.")], {
      ...points,
    });
    const { world, gate } = await startToolTurn([], { provider });
    await world.waitForEvent("tool.started");
    const one = idOf(await remind(world, { body: "One turn", ttlTurns: 1 }));
    await remind(world, { body: "Two turns", ttlTurns: 2 });
    gate.open();
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("reminder.expired")).toEqual([
      { type: "reminder.expired", reminderId: one, reason: "ttl" },
    ]);
    await world.prompt("Next");
    await world.waitForEvent("turn.finished", 2);
    const received = JSON.stringify(provider.invocations);
    expect([received.includes("One turn"), received.includes("Two turns")]).toEqual([false, true]);
  });
});
