import { describe, expect, it } from "vitest";
import type { Store } from "../../../src/store/store.ts";
import {
  acquire,
  delta,
  draft,
  entry,
  finished,
  headOf,
  HOUR,
  NOW,
  seqs,
  sessionOf,
  type StoreSubject,
} from "./store-subject.ts";

export function storeKeeping({ open }: StoreSubject): void {
  describe("Blobs", () => {
    it("A blob is stored once per session under its id", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 1);
      const bytes = new Uint8Array([0, 1, 255]);
      await store.putBlob("ses_1", "blob_1", bytes);
      await store.putBlob("ses_1", "blob_1", bytes.slice());
      bytes[0] = 9;
      await expect(store.putBlob("ses_1", "blob_1", bytes)).rejects.toMatchObject({
        code: "blob_taken",
        details: { sessionId: "ses_1", blobId: "blob_1" },
      });
      await store.putBlob("ses_1", "empty", new Uint8Array(0));
      expect([...((await store.readBlob("ses_1", "blob_1")) ?? [])]).toEqual([0, 1, 255]);
      expect(await store.readBlob("ses_1", "empty")).toHaveLength(0);
      expect(await store.readBlob("ses_1", "blob_2")).toBeUndefined();
      expect(await store.readBlob("ses_2", "blob_1")).toBeUndefined();
      await expect(store.putBlob("ses_2", "blob_1", bytes)).rejects.toMatchObject({
        code: "not_found",
      });
    });
  });

  describe("Snapshots", () => {
    it("The latest snapshot of a version is returned, and an outdated owner cannot save one", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 3);
      await store.saveSnapshot(lease, { version: "1", seq: 2, state: { n: 2 } });
      await store.saveSnapshot(lease, { version: "1", seq: 3, state: { n: 3 } });
      expect(await store.readSnapshot("ses_1", "1")).toEqual({
        version: "1",
        seq: 3,
        state: { n: 3 },
      });
      expect(await store.readSnapshot("ses_1", "2")).toBeUndefined();
      expect(await store.readSnapshot("ses_2", "1")).toBeUndefined();
      const ahead = store.saveSnapshot(lease, { version: "1", seq: 4, state: {} });
      await expect(ahead).rejects.toMatchObject({ code: "wrong_seq" });
      await acquire(store, "ses_1");
      const stale = store.saveSnapshot(lease, { version: "1", seq: 1, state: {} });
      await expect(stale).rejects.toMatchObject({ code: "stale_lease" });
    });
  });

  describe("Deleted sessions", () => {
    it("A deleted session leaves nothing behind", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 2);
      await store.append(lease, 2, entry([], { command: { id: "cmd_1", reply: 1 }, wakeAt: NOW }));
      await store.putBlob("ses_1", "blob_1", new Uint8Array(1));
      await store.saveSnapshot(lease, { version: "1", seq: 1, state: {} });
      const { incarnation } = await headOf(store, "ses_1");
      expect(await store.deleteSession("ses_1")).toBe(true);
      await sessionOf(store, "ses_1", 0);
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 0, firstSeq: 1 });
      expect((await headOf(store, "ses_1")).incarnation).not.toBe(incarnation);
      expect(await store.read("ses_1", 0, 9)).toEqual([]);
      expect(await store.findReply("ses_1", "cmd_1")).toBeUndefined();
      expect(await store.readBlob("ses_1", "blob_1")).toBeUndefined();
      expect(await store.readSnapshot("ses_1", "1")).toBeUndefined();
      expect(await store.claimDue(NOW + 9 * HOUR, { owner: "x", durationMs: 1, limit: 9 })).toEqual(
        [],
      );
    });
  });

  describe("Retention", () => {
    const now = NOW + HOUR;

    it("Sessions that are idle for too long are deleted, unless they are in use", async () => {
      const store = await open();
      for (const id of ["old", "waking", "owned", "new"]) {
        const at = id === "new" ? now : NOW;
        const { lease } = await acquire(store, id, at);
        const wakeAt = id === "waking" ? now + HOUR : null;
        await store.append(lease, 0, entry([delta("a", { at }), delta("b", { at })], { wakeAt }));
        if (id !== "owned") await store.release(lease);
        else await store.renew(lease, now, HOUR);
      }
      const retained = await store.applyRetention({ now, inactiveSince: now });
      expect(retained).toMatchObject({ deletedSessions: 1, droppedEvents: 0 });
      const { sessions } = await store.listSessions({ limit: 9 });
      expect(sessions.map(({ sessionId }) => sessionId)).toEqual(["new", "waking", "owned"]);
      expect(await store.applyRetention({ now })).toMatchObject({
        deletedSessions: 0,
        droppedEvents: 0,
      });
      expect(await store.checkIntegrity()).toEqual([]);
    });

    it("Sessions that are active, read by a client or run by the caller are not deleted", async () => {
      const store = await open();
      const all = ["lapsed", "read", "running", "waiting"] as const;
      for (const id of all) {
        const { lease } = await acquire(store, id, NOW);
        const index = id === "running" || id === "waiting" ? { state: id } : {};
        await store.append(lease, 0, entry([delta("a"), finished("a")], { index }));
        // The lease of this session expires without a release.
        if (id !== "lapsed") await store.release(lease);
      }
      const leave = new AbortController();
      const reader = store.subscribe("read", undefined, leave.signal)[Symbol.asyncIterator]();
      await reader.next();
      const rules = { now: now + HOUR, inactiveSince: now + HOUR, maxBytes: 0, owner: "me" };
      expect(await store.applyRetention(rules)).toMatchObject({
        deletedSessions: 0,
        droppedEvents: 0,
      });
      expect(await idsOf(store)).toEqual(all);
      expect(await store.applyRetention({ ...rules, owner: "you" })).toMatchObject({
        deletedSessions: 1,
      });
      expect(await idsOf(store)).toEqual(all.slice(1));
      leave.abort();
      await reader.next();
      expect(await store.applyRetention(rules)).toMatchObject({ deletedSessions: 1 });
      expect(await idsOf(store)).toEqual(["running", "waiting"]);
    });

    it("A tree of sessions is as old as its newest session, is kept while one session is in use, and is deleted as a whole", async () => {
      const store = await open();
      const lineage = {
        parentSessionId: "root",
        workerId: "w1",
        rootSessionId: "root",
        depth: 1,
      } as const;
      const add = async (id: string, at: number, index = {}): Promise<void> => {
        const { lease } = await acquire(store, id, at);
        await store.append(lease, 0, entry([delta("a", { at })], { index }));
        await store.release(lease);
      };
      await add("root", NOW);
      await add("child", NOW + 10, { lineage, state: "running" });
      const rules = { now: NOW + 100, inactiveSince: NOW + 50 };
      expect(await store.applyRetention(rules)).toMatchObject({ deletedSessions: 0 });
      const { lease, head } = await acquire(store, "child", NOW + 60);
      const idle = { index: { state: "idle" } } as const;
      await store.append(lease, head.seq, entry([delta("b", { at: NOW + 60 })], idle));
      await store.release(lease);
      expect(await store.applyRetention(rules)).toMatchObject({ deletedSessions: 0 });
      const later = { now: NOW + 100, inactiveSince: NOW + 90 };
      expect(await store.applyRetention(later)).toMatchObject({ deletedSessions: 1 });
      expect(await idsOf(store)).toEqual([]);
    });

    it("Deltas of finished blocks are dropped first, then the oldest session is deleted", async () => {
      const store = await open();
      await talk(store, "older", NOW);
      await talk(store, "newer", NOW + 1);
      const { bytes } = await store.applyRetention({ now });
      const dropped = await store.applyRetention({ now, maxBytes: bytes - 1 });
      expect(dropped).toMatchObject({ deletedSessions: 0, droppedEvents: 4 });
      expect(seqs(await store.read("older", 0, 99))).toEqual([3, 4, 5, 7, 9, 10]);
      expect(seqs(await store.read("older", 5, 2))).toEqual([7, 9]);
      expect(await headOf(store, "older")).toMatchObject({ seq: 10, firstSeq: 9 });
      expect(await headOf(store, "newer")).toMatchObject({ seq: 10, firstSeq: 1 });
      expect(await store.checkIntegrity()).toEqual([]);
      const rest = await store.applyRetention({ now, maxBytes: Math.floor(bytes / 2) - 100 });
      expect(rest).toMatchObject({ deletedSessions: 1, droppedEvents: 4 });
      expect(rest.bytes).toBeLessThan(bytes / 2 - 100);
      expect(await store.readHead("older")).toBeUndefined();
      const none = await store.applyRetention({ now, maxBytes: 0 });
      expect(none).toEqual({ deletedSessions: 1, droppedEvents: 0, bytes: 0 });
    });

    it("The log can be appended to after deltas were dropped", async () => {
      const store = await open();
      await talk(store, "ses_1", NOW);
      await store.applyRetention({ now, maxBytes: 1000 });
      const { lease, head } = await acquire(store, "ses_1", now);
      await store.append(lease, head.seq, entry([delta("more")]));
      expect(seqs(await store.read("ses_1", 7, 99))).toEqual([9, 10, 11]);
      expect(await store.checkIntegrity()).toEqual([]);
    });
  });
}

async function idsOf(store: Store): Promise<readonly string[]> {
  const { sessions } = await store.listSessions({ limit: 9 });
  return sessions.map(({ sessionId }) => sessionId).sort();
}

/** Two finished blocks and a finished tool call with four deltas in total, and a block which is still open. */
async function talk(store: Store, sessionId: string, at: number): Promise<void> {
  const { lease } = await acquire(store, sessionId, at);
  const input = (text: string) =>
    draft({ type: "tool_call.input.delta", toolCallId: "tool_1", text }, at);
  const toolCall = { id: "c", name: "look", inputText: "{}", runBy: "client", input: {} } as const;
  const called = {
    type: "tool_call.received",
    toolCallId: "tool_1",
    messageId: "msg_1",
    block: 3,
  } as const;
  const open = { type: "thought.delta", messageId: "msg_1", block: 2, text: "hm" } as const;
  await store.append(
    lease,
    0,
    entry([
      delta("a", { at }),
      delta("b", { at }),
      finished("ab", { at }),
      draft(open, at),
      finished("no deltas", { block: 1, at }),
      input("{"),
      draft(open, at),
      input("}"),
      draft({ ...called, toolCall }, at),
      delta("another block of the same number", { at }),
    ]),
  );
  await store.release(lease);
}
