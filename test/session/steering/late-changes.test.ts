import { listItems } from "../../../src/data/chunked-list.ts";
import { describe, expect, it } from "vitest";
import type { CommandReply } from "../../../src/domain/session-command.ts";
import type { Reminder } from "../../../src/domain/reminder.ts";
import { evolveSteering, initialSteering } from "../../../src/session/steering/steering-state.ts";
import { createScriptedProvider, says } from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld, type SessionWorld } from "../../support/session/session-world.ts";

const REMINDER: Reminder = {
  body: "Look again",
  tags: [],
  mode: "audit_only",
  roleHint: "system",
  authority: "contract",
  source: "bridge",
  propagate: "session",
};

/** More outcomes than the state keeps. */
const MANY = 300;

function acceptedId(reply: CommandReply): string {
  const id = reply.status === "accepted" ? (reply.messageId ?? reply.reminderId) : undefined;
  if (id === undefined) throw new Error(`Not accepted: ${JSON.stringify(reply)}`);
  return id;
}

async function queueAndRevoke(world: SessionWorld): Promise<string> {
  const reminderId = acceptedId(await world.send({ type: "remind", reminder: REMINDER }));
  await world.send({ type: "revoke-reminder", reminderId });
  return reminderId;
}

/** The ids of all injections which the session's state has. */
async function listStateIds(world: SessionWorld): Promise<readonly string[]> {
  let state = initialSteering;
  for (const envelope of await world.readLog())
    state = evolveSteering(state, envelope, envelope.seq);
  return [...listItems(state.pending), ...state.settled].map(({ id }) => id);
}

describe("A change of an injection whose outcome the state no longer has", () => {
  it("A change of an old injection is answered from the log with already_delivered or already_revoked [W-21] [B-173] [B-175] [B-176] [B-194] [R-008]", async () => {
    const provider = createScriptedProvider([says("Hello.")]);
    const world = await openWorld(createAgent({ provider }));
    const content = [{ type: "text", text: "Hello?" }] as const;
    const delivered = acceptedId(await world.send({ type: "inject", mode: "queue", content }));
    await world.waitForEvent("turn.finished");
    const revoked = await queueAndRevoke(world);
    for (let count = 0; count < MANY; count += 1) await queueAndRevoke(world);
    const stateIds = await listStateIds(world);
    expect(stateIds).not.toContain(delivered);
    expect(stateIds).not.toContain(revoked);
    for (const command of [
      { type: "revoke-inject", messageId: delivered } as const,
      { type: "replace-inject", messageId: delivered, content } as const,
    ]) {
      expect(await world.send(command)).toMatchObject({
        status: "refused",
        failure: { code: "conflict", details: { reason: "already_delivered" } },
      });
    }
    expect(await world.send({ type: "revoke-reminder", reminderId: revoked })).toEqual({
      status: "accepted",
      reminderId: revoked,
      injectionStatus: "already_revoked",
    });
    const replace = { type: "replace-inject", messageId: revoked, content } as const;
    expect(await world.send(replace)).toMatchObject({
      failure: { details: { reason: "already_revoked" } },
    });
  });

  it("An id the session never had stays unknown, and its form decides whether the log is read [W-21] [B-177]", async () => {
    const provider = createScriptedProvider([says("Hello.")]);
    const world = await openWorld(createAgent({ provider }));
    const reads: string[] = [];
    const { store } = world;
    const readPage = store.readPage.bind(store);
    store.readPage = (sessionId, ...rest) => {
      reads.push(sessionId);
      return readPage(sessionId, ...rest);
    };
    for (const [messageId, hasRead] of [["other", false] as const, ["msg_inj_x", true] as const]) {
      reads.length = 0;
      expect(await world.send({ type: "revoke-inject", messageId })).toMatchObject({
        failure: { code: "not_found", details: { reason: "unknown_message_id" } },
      });
      expect(reads.length > 0).toBe(hasRead);
    }
  });
});
