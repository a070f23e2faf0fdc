import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import { loadState, saveState } from "../../../src/session/runtime/log/load-state.ts";
import type { VerifySignature } from "../../../src/session/runtime/log/receipt-verifier.ts";
import type { SignContent } from "../../../src/session/runtime/log/append-decision.ts";
import { STATE_VERSION, type SessionState } from "../../../src/session/session-state.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Lease, LogHead } from "../../../src/store/log-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { opened, tamper, temporaryFile } from "../../store/sqlite-support.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  ME,
  readUntil,
  openSessions,
  openWorld,
} from "../../support/session/session-world.ts";

interface PlayedTurns {
  readonly store: Store;
  readonly sessionId: string;
  readonly lease: Lease;
  readonly head: LogHead;
  /** The state folded from the whole log. */
  readonly whole: SessionState;
}

const ACQUISITION = { owner: "reader", now: 0, durationMs: 1000, takeOver: true } as const;

/** A session of two turns without a running driver. */
async function playTurns(store: Store): Promise<PlayedTurns> {
  const provider = createScriptedProvider([says("One."), says("Two.")]);
  const world = await openWorld(createAgent({ provider }), { store });
  await world.prompt("First");
  await world.waitForEvent("turn.finished");
  await world.prompt("Second");
  await world.waitForEvent("turn.finished", 2);
  await world.sessions.close();
  const { sessionId } = world;
  const { lease, head } = await store.acquire(sessionId, ACQUISITION);
  return { store, sessionId, lease, head, whole: await loadState(store, sessionId, head) };
}

/** Loads the state, with all reported errors. */
async function loaded({ store, sessionId, head }: PlayedTurns) {
  const reports: unknown[] = [];
  const report = (error: unknown): void => void reports.push(error);
  const state = await loadState(store, sessionId, { ...head, report });
  return { state, reports };
}

async function saveAt({ store, sessionId, lease, head }: PlayedTurns, seq: number): Promise<void> {
  await saveState(store, lease, await loadState(store, sessionId, { ...head, seq }));
}

const DAMAGED = { code: "store_damaged", details: { sessionId: expect.stringMatching(/^ses_/) } };

describe("Snapshots", () => {
  it("A snapshot at any position leads to the state of the whole log", async () => {
    const session = await playTurns(createMemoryStore());
    const { store, sessionId, head, whole } = session;
    for (let seq = 1; seq <= head.seq; seq++) {
      await saveAt(session, seq);
      expect((await store.readSnapshot(sessionId, STATE_VERSION))?.seq).toBe(seq);
      expect(await loaded(session)).toEqual({ state: whole, reports: [] });
    }
  });

  it("An unsigned or foreign snapshot is ignored if receipts are signed", async () => {
    const session = await playTurns(createMemoryStore());
    const { store, sessionId, lease, head, whole } = session;
    const sign = (content: unknown) => ({ keyId: "mine", mac: JSON.stringify(content) });
    const verify: VerifySignature = (content, { keyId, mac }) =>
      keyId === "mine" && mac === JSON.stringify(content);
    const check = async (signed: SignContent | undefined) => {
      const reports: unknown[] = [];
      const report = (error: unknown): void => void reports.push(error);
      await saveState(store, lease, { ...whole, principal: "from the snapshot" }, signed);
      const { principal } = await loadState(store, sessionId, { ...head, verify, report });
      return [principal, reports.length];
    };
    expect(await check(sign)).toEqual(["from the snapshot", 0]);
    expect(await check((content) => ({ ...sign(content), keyId: "theirs" }))).toEqual(["me", 1]);
    expect(await check(undefined)).toEqual(["me", 1]);
  });

  it("A snapshot of another version is ignored", async () => {
    const session = await playTurns(createMemoryStore());
    const { store, lease, whole } = session;
    await store.saveSnapshot(lease, { version: "0", seq: 3, state: { seq: 3, agent: null } });
    expect(await loaded(session)).toEqual({ state: whole, reports: [] });
  });

  it.each<[string, (kept: JsonObject) => JsonObject]>([
    ["that is not a state", () => ({ seq: 3 })],
    ["without its digest", ({ state = null }) => ({ state })],
    ["of which a part is missing", ({ digest = "" }) => ({ digest, state: { seq: 3 } })],
    ["with a part of another shape", (keptValue) => changed(keptValue, { turn: "none" })],
    ["with another value", (keptValue) => changed(keptValue, { principal: "somebody else" })],
    ["of another place in the log", (keptValue) => changed(keptValue, { seq: 2 })],
  ])("A snapshot %s is reported and ignored", async (_, damage) => {
    const session = await playTurns(createMemoryStore());
    const { store, sessionId, lease, whole } = session;
    await saveAt(session, 3);
    const snapshot = await store.readSnapshot(sessionId, STATE_VERSION);
    await store.saveSnapshot(lease, {
      version: STATE_VERSION,
      seq: 3,
      state: damage(snapshot?.state ?? {}),
    });
    expect(await loaded(session)).toMatchObject({ state: whole, reports: [DAMAGED] });
  });

  it("A snapshot of another session is reported and ignored", async () => {
    const store = createMemoryStore();
    const [session, other] = [await playTurns(store), await playTurns(store)];
    await saveAt(other, 3);
    const snapshot = await store.readSnapshot(other.sessionId, STATE_VERSION);
    if (snapshot === undefined) throw new Error("The snapshot is missing");
    await store.saveSnapshot(session.lease, snapshot);
    expect(await loaded(session)).toMatchObject({ state: session.whole, reports: [DAMAGED] });
  });

  it.each([
    ["whose text was cut", "state = substr(state, 1, 100)"],
    ["whose text was changed", `state = replace(state, '"me"', '"you"')`],
    ["that is not text", "state = x'00ff'"],
    ["that is ahead of the log", "seq = 1000000"],
    ["whose position is not a number", "seq = 'three'"],
  ])("A snapshot in a file %s is reported and ignored", async (_, change) => {
    const file = temporaryFile();
    const session = await playTurns(await opened({ file }));
    await saveAt(session, 3);
    await session.store.close();
    await tamper(file, (database) => database.exec(`UPDATE snapshots SET ${change}`));
    const again = { ...session, store: await opened({ file }) };
    expect(await loaded(again)).toMatchObject({ state: session.whole, reports: [DAMAGED] });
  });

  it("A session with a modified snapshot stays usable", async () => {
    const store = createMemoryStore();
    const provider = createScriptedProvider([says("One."), says("Two.")]);
    const world = await openWorld(createAgent({ provider }), { store });
    await world.prompt("First");
    await world.waitForEvent("turn.finished");
    const { sessionId } = world;
    const { lease, head } = await store.acquire(sessionId, ACQUISITION);
    await saveState(store, lease, await loadState(store, sessionId, head));
    const snapshot = await store.readSnapshot(sessionId, STATE_VERSION);
    const state = changed(snapshot?.state ?? {}, { clients: {}, tools: [] });
    await store.saveSnapshot(lease, { version: STATE_VERSION, seq: head.seq, state });
    const next = await world.restart();
    await next.prompt("Second");
    expect(await next.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    expect(next.reports).toMatchObject([DAMAGED]);
  });

  it("A session used for one turn per process still gets a snapshot", async () => {
    const session = await playTurns(createMemoryStore());
    const { store, sessionId, lease, head } = session;
    const title = { type: "session.title_changed", title: "Again" } as const;
    const draft = { at: 0, visibility: "public", event: title } as const;
    const events = Array.from({ length: 600 }, () => draft);
    await store.append(lease, head.seq, { events, sync: false });
    const provider = createScriptedProvider([says("Three.")]);
    const sessions = openSessions(store, createAgent({ provider }));
    const content = [{ type: "text", text: "Third" }] as const;
    await sessions.command(sessionId, { type: "prompt", content }, { principal: ME });
    await readUntil(
      sessions,
      sessionId,
      ({ seq, event }) => seq > head.seq && event.type === "turn.finished",
    );
    await sessions.close();
    const last = await store.readHead(sessionId);
    expect((await store.readSnapshot(sessionId, STATE_VERSION))?.seq).toBe(last?.seq);
  });
});

/** The snapshot with changed parts and its original digest. */
function changed(keptValue: JsonObject, parts: JsonObject): JsonObject {
  const { digest = "", state } = keptValue;
  return { digest, state: { ...(state as JsonObject), ...parts } };
}
