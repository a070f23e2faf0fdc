import { describe, expect, it } from "vitest";
import {
  acquire,
  delta,
  draft,
  entry,
  headOf,
  HOUR,
  NOW,
  seqs,
  sessionOf,
  type StoreSubject,
} from "./store-subject.ts";

export function storeWriting({ open, reopen }: StoreSubject): void {
  describe("Leases", () => {
    it("A lease creates a session for its first owner", async () => {
      const store = await open();
      const acquired = await acquire(store, "ses_1");
      expect(acquired).toEqual({
        lease: { sessionId: "ses_1", owner: "me", epoch: expect.any(Number) },
        head: { incarnation: expect.any(String), seq: 0, firstSeq: 1 },
        wasAbandoned: false,
      });
      expect(await store.readHead("ses_1")).toEqual(acquired.head);
    });

    it("Another owner is refused while a lease is valid, with the name of the owner", async () => {
      const store = await open();
      await acquire(store, "ses_1");
      const other = { owner: "other", now: NOW + 1, durationMs: HOUR };
      await expect(store.acquire("ses_1", other)).rejects.toMatchObject({
        code: "lease_held",
        details: { sessionId: "ses_1", owner: "me", until: NOW + HOUR },
      });
    });

    it.each([
      ["ran out", { now: NOW + HOUR }],
      ["is taken over", { now: NOW, takeOver: true }],
    ])("An owner whose lease %s cannot write", async (_, how) => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 1);
      const taken = await store.acquire("ses_1", { owner: "other", durationMs: HOUR, ...how });
      expect(taken).toMatchObject({ head: { seq: 1 }, wasAbandoned: true });
      expect(taken.lease.epoch).toBeGreaterThan(lease.epoch);
      await expect(store.append(lease, 1, entry([delta("late")]))).rejects.toMatchObject({
        code: "stale_lease",
      });
      expect(await store.renew(lease, NOW, HOUR)).toBe(false);
      await store.release(lease);
      await store.append(taken.lease, 1, entry([delta("mine")]));
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 2 });
    });

    it("A lease that was taken over cannot write after the new owner has written", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 1);
      const other = { owner: "other", now: NOW, durationMs: HOUR, takeOver: true };
      const { lease: taken } = await store.acquire("ses_1", other);
      await store.append(taken, 1, entry([delta("mine")]));
      await expect(store.append(lease, 2, entry([delta("late")]))).rejects.toMatchObject({
        code: "stale_lease",
      });
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 2 });
    });

    it("An earlier lease of the same owner cannot write", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 1);
      await acquire(store, "ses_1");
      await expect(store.append(lease, 1, entry([]))).rejects.toMatchObject({
        code: "stale_lease",
      });
    });

    it("An expired lease stays usable until another owner takes the session, and can be renewed", async () => {
      const store = await open();
      const { lease } = await acquire(store, "ses_1");
      await store.append(lease, 0, entry([delta("a")]));
      expect(await store.renew(lease, NOW + 2 * HOUR, HOUR)).toBe(true);
      const other = { owner: "other", now: NOW + 2 * HOUR, durationMs: HOUR };
      await expect(store.acquire("ses_1", other)).rejects.toMatchObject({ code: "lease_held" });
    });

    it("A released lease cannot write", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 1);
      await store.release(lease);
      await expect(store.append(lease, 1, entry([]))).rejects.toMatchObject({
        code: "stale_lease",
      });
      expect(await store.renew(lease, NOW, HOUR)).toBe(false);
      const other = { owner: "other", now: NOW, durationMs: HOUR };
      expect(await store.acquire("ses_1", other)).toMatchObject({ wasAbandoned: false });
    });

    it("A lease of a deleted session cannot write to a new session with the same id", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      await store.deleteSession("ses_1");
      await expect(store.append(lease, 0, entry([]))).rejects.toMatchObject({
        code: "stale_lease",
      });
      await acquire(store, "ses_1");
      await expect(store.append(lease, 0, entry([]))).rejects.toMatchObject({
        code: "stale_lease",
      });
    });
  });

  describe("append", () => {
    it("Appended events get consecutive positions and are read back unchanged [W-33]", async () => {
      const store = await open();
      const { lease } = await acquire(store, "ses_1");
      const full = {
        at: NOW,
        turnId: "turn_1",
        actor: { kind: "user", principal: "ada", clientId: "client_1" },
        cause: "cmd_1",
        visibility: "internal",
        event: { type: "session.title_changed", title: "Über 日本 \u{1f600} \u0000 '\"" },
      } as const;
      const appended = await store.append(lease, 0, entry([full, delta("b")]));
      const expectedEvents = [
        { sessionId: "ses_1", seq: 1, ...full },
        { sessionId: "ses_1", seq: 2, ...delta("b") },
      ];
      expect(appended).toEqual({ status: "appended", events: expectedEvents });
      expect(await store.read("ses_1", 0, 10)).toEqual(expectedEvents);
    });

    it.each([0, 2])("An append at position %i is refused and writes nothing", async (expected) => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 1);
      const command = { id: "cmd_1", reply: true };
      const wrong = store.append(lease, expected, entry([delta("x")], { command, wakeAt: 1 }));
      await expect(wrong).rejects.toMatchObject({
        code: "wrong_seq",
        details: { sessionId: "ses_1", expected, seq: 1 },
      });
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 1 });
      expect(await store.findReply("ses_1", "cmd_1")).toBeUndefined();
      expect(await store.findSession("ses_1")).toMatchObject({ wakeAt: null });
    });

    it("Concurrent appends to one or several sessions succeed", async () => {
      const store = await open();
      const leases = await Promise.all(["a", "b"].map((id) => sessionOf(store, id, 0)));
      const appends = leases.flatMap((lease) =>
        Array.from({ length: 50 }, (_, seq) =>
          store.append(lease, seq, entry([delta(`${seq}`)], { sync: seq % 7 === 0 })),
        ),
      );
      await Promise.all(appends);
      for (const id of ["a", "b"]) {
        const events = await store.read(id, 0, 100);
        expect(seqs(events)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      }
    });

    it("One of several concurrent appends can be refused without effect on the others", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      const results = await Promise.allSettled([
        store.append(lease, 0, entry([delta("a")], { sync: true })),
        store.append(lease, 0, entry([delta("lost")])),
        store.append(lease, 1, entry([delta("b")])),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      expect(await store.read("ses_1", 0, 9)).toMatchObject([
        { event: { text: "a" } },
        { event: { text: "b" } },
      ]);
    });

    it("An event that cannot be encoded as JSON is refused without effect on others", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      const raw = draft({ type: "provider.unknown", what: "event", name: "x", raw: 1n });
      await expect(store.append(lease, 0, entry([raw]))).rejects.toThrow("BigInt");
      await store.append(lease, 0, entry([delta("a")]));
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 1 });
    });
  });

  describe("Commands", () => {
    const command = { id: "cmd_1", reply: { turnId: "turn_1", items: [1, null] } };

    it("A command has its effect once, and a repetition gets its reply", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      await store.append(lease, 0, entry([delta("a")], { command, sync: true }));
      const again = await store.append(
        lease,
        0,
        entry([delta("b")], { command: { id: "cmd_1", reply: "another" }, sync: true }),
      );
      expect(again).toEqual({ status: "repeated", reply: command.reply });
      expect(await store.findReply("ses_1", "cmd_1")).toEqual(command.reply);
      expect(await store.findReply("ses_1", "cmd_2")).toBeUndefined();
      expect(await store.findReply("ses_2", "cmd_1")).toBeUndefined();
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 1 });
    });

    it("A command that is sent twice concurrently has its effect once", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      const twice = [0, 1].map(() => store.append(lease, 0, entry([delta("a")], { command })));
      expect((await Promise.all(twice)).map(({ status }) => status)).toEqual([
        "appended",
        "repeated",
      ]);
    });

    it("A command without events is remembered, even with the reply null", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      const silent = entry([], { command: { id: "cmd_1", reply: null } });
      await store.append(lease, 0, silent);
      expect(await store.append(lease, 0, silent)).toEqual({ status: "repeated", reply: null });
    });

    it("A repeated command needs the newest lease", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      await store.append(lease, 0, entry([], { command }));
      await acquire(store, "ses_1");
      await expect(store.append(lease, 0, entry([], { command }))).rejects.toMatchObject({
        code: "stale_lease",
      });
    });
  });

  describe.runIf(reopen !== undefined)("Reopened stores", () => {
    it("A reopened store continues with its positions, replies, leases and incarnation [W-33]", async () => {
      const first = await open();
      const lease = await sessionOf(first, "ses_1", 3);
      const command = { id: "cmd_1", reply: { ok: true } };
      await first.append(lease, 3, entry([delta("4")], { command, sync: true }));
      const before = await headOf(first, "ses_1");
      const store = (await reopen?.(first)) ?? first;
      expect(await headOf(store, "ses_1")).toEqual(before);
      expect(await store.findReply("ses_1", "cmd_1")).toEqual({ ok: true });
      const other = { owner: "other", now: NOW, durationMs: HOUR };
      await expect(store.acquire("ses_1", other)).rejects.toMatchObject({ code: "lease_held" });
      expect(await store.append(lease, 0, entry([], { command }))).toMatchObject({
        status: "repeated",
      });
      const { lease: next, wasAbandoned } = await acquire(store, "ses_1");
      expect([wasAbandoned, next.epoch > lease.epoch]).toEqual([true, true]);
      await store.append(next, 4, entry([delta("5")]));
      expect(seqs(await store.read("ses_1", 0, 9))).toEqual([1, 2, 3, 4, 5]);
      expect(await store.checkIntegrity()).toEqual([]);
    });
  });
}
