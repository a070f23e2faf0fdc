import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { Store } from "../../../src/store/store.ts";
import { createTickCounter } from "../../support/tick-counter.ts";
import {
  acquire,
  delta,
  entry,
  finished,
  headOf,
  HOUR,
  NOW,
  readUntil,
  seqs,
  sessionOf,
  type StoreSubject,
} from "./store-subject.ts";
import { runs } from "../../support/test-depth.ts";

export function storeReading({ open }: StoreSubject): void {
  describe("read", () => {
    it("A range of the log is returned, complete to its end [W-34]", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 5000);
      expect(seqs(await store.read("ses_1", 2, 3))).toEqual([3, 4, 5]);
      expect(seqs(await store.read("ses_1", 4998, 10))).toEqual([4999, 5000]);
      expect(await store.read("ses_1", 0, 10_000)).toHaveLength(5000);
      expect(await store.read("ses_1", 5000, 10)).toEqual([]);
      expect(await store.read("ses_1", 9999, 10)).toEqual([]);
      expect(await store.read("ses_2", 0, 10)).toEqual([]);
      expect(await store.readHead("ses_2")).toBeUndefined();
    });
  });

  describe("readPage", () => {
    it("A log is returned in pages, and then an empty page", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 5000);
      const read: Envelope[] = [];
      for (let isMore = true; isMore;) {
        const page = await store.readPage("ses_1", read.at(-1)?.seq ?? 0);
        read.push(...page);
        isMore = page.length > 0;
      }
      expect(read).toEqual(await store.read("ses_1", 0, 10_000));
      expect(seqs(await store.readPage("ses_1", 4998))).toEqual([4999, 5000]);
      expect(await store.readPage("ses_2", 0)).toEqual([]);
    });

    it("All readers together get at most 1024 events per tick", async () => {
      const store = await open();
      for (const id of ["ses_1", "ses_2", "ses_3"]) await sessionOf(store, id, 3000);
      const turns = createTickCounter();
      await Promise.all(
        ["ses_1", "ses_2", "ses_3"].map(async (id) => {
          for (let seq = 0; seq < 3000;) {
            const page = await store.readPage(id, seq);
            turns.count(page.length);
            seq += page.length;
          }
        }),
      );
      expect(turns.maxPerTick()).toBeLessThanOrEqual(1024);
    });

    it("Many small logs are returned in the same tick", async () => {
      const store = await open();
      const ids = Array.from({ length: 20 }, (_, at) => `ses_${at}`);
      for (const id of ids) await sessionOf(store, id, 5);
      const turns = createTickCounter();
      const read = async (id: string): Promise<void> =>
        turns.count((await store.readPage(id, 0)).length);
      await Promise.all(ids.map(read));
      expect(turns.maxPerTick()).toBe(100);
    });
  });

  describe("subscribe", () => {
    const never = new AbortController().signal;

    it("A subscription returns past and future events once and in order [W-35]", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 3);
      const { incarnation } = await headOf(store, "ses_1");
      const reading = readUntil(store, {
        sessionId: "ses_1",
        cursor: { incarnation, seq: 1 },
        until: 5,
      });
      await store.append(lease, 3, entry([delta("4")], { sync: true }));
      await store.append(lease, 4, entry([delta("5")]));
      expect(seqs(await reading)).toEqual([2, 3, 4, 5]);
    });

    it("Events are the same live and when they are read later", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 0);
      const live = readUntil(store, { sessionId: "ses_1", until: 2 });
      await store.append(lease, 0, entry([delta("a"), finished("a")]));
      expect(await live).toEqual(await store.read("ses_1", 0, 9));
    });

    it("A subscription has no gaps and no duplicates for any interleaving of readers and writers", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) =>
          expectOrderedReaders(open, steps),
        ),
        { numRuns: runs(40) },
      );
    });

    it("A slow reader does not delay others and gets bounded batches", async () => {
      const store = await open();
      const lease = await sessionOf(store, "ses_1", 1);
      const slow = store.subscribe("ses_1", undefined, never)[Symbol.asyncIterator]();
      expect((await slow.next()).value).toMatchObject({ events: [{ seq: 1 }] });
      const fast = readUntil(store, { sessionId: "ses_1", until: 3001 });
      for (let seq = 1; seq <= 3000; seq += 100) {
        const drafts = Array.from({ length: 100 }, (_, index) => delta(`${seq + index}`));
        await store.append(lease, seq, entry(drafts));
      }
      expect(await fast).toHaveLength(3001);
      const sizes: number[] = [];
      for (let seen = 1; seen < 3001;) {
        const { value } = await slow.next();
        if (value === undefined) break;
        expect(value.events[0]?.seq).toBe(seen + 1);
        seen = value.events.at(-1)?.seq ?? Number.NaN;
        sizes.push(value.events.length);
      }
      expect(Math.max(...sizes)).toBeLessThanOrEqual(1000);
      expect(Math.max(...sizes)).toBeGreaterThan(100);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(3000);
    });

    it("A subscription ends with its signal, even while it waits, and with the store", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 0);
      const controller = new AbortController();
      const ended = [controller.signal, never].map((signal) =>
        store.subscribe("ses_1", undefined, signal)[Symbol.asyncIterator]().next(),
      );
      controller.abort();
      expect(await ended[0]).toEqual({ done: true, value: undefined });
      await store.close();
      expect(await ended[1]).toEqual({ done: true, value: undefined });
      await expect(store.readHead("ses_1")).rejects.toMatchObject({ code: "store_closed" });
    });

    it("A cursor of another incarnation, or ahead of the log, is refused", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 2);
      const { incarnation } = await headOf(store, "ses_1");
      const next = (cursor: { incarnation: string; seq: number }, sessionId = "ses_1") =>
        store.subscribe(sessionId, cursor, never)[Symbol.asyncIterator]().next();
      await expect(next({ incarnation, seq: 3 })).rejects.toMatchObject({
        code: "cursor_ahead",
        details: { sessionId: "ses_1", cursor: 3, seq: 2 },
      });
      await expect(next({ incarnation, seq: 1 }, "ses_2")).rejects.toMatchObject({
        code: "not_found",
      });
      await store.deleteSession("ses_1");
      await sessionOf(store, "ses_1", 2);
      await expect(next({ incarnation, seq: 1 })).rejects.toMatchObject({
        code: "cursor_gone",
        details: { reason: "incarnation" },
      });
    });

    it("A subscription fails if its session is deleted", async () => {
      const store = await open();
      await sessionOf(store, "ses_1", 0);
      const waiting = store.subscribe("ses_1", undefined, never)[Symbol.asyncIterator]().next();
      await store.deleteSession("ses_1");
      await expect(waiting).rejects.toMatchObject({
        code: "cursor_gone",
        details: { reason: "deleted" },
      });
    });

    it("A cursor before dropped events is refused, and a subscription from the start gets the rest [W-34]", async () => {
      const store = await open();
      const { lease } = await acquire(store, "ses_1");
      const drafts = [delta("a"), delta("b"), finished("ab"), delta("c", { block: 1 })];
      await store.append(lease, 0, entry(drafts));
      await store.release(lease);
      const early = store.subscribe("ses_1", undefined, never)[Symbol.asyncIterator]();
      await store.applyRetention({ now: NOW + HOUR, maxBytes: 300 });
      expect(await headOf(store, "ses_1")).toMatchObject({ seq: 4, firstSeq: 3 });
      const { incarnation } = await headOf(store, "ses_1");
      const from = (seq: number) =>
        readUntil(store, { sessionId: "ses_1", cursor: { incarnation, seq }, until: 4 });
      await expect(from(1)).rejects.toMatchObject({
        code: "cursor_gone",
        details: { reason: "retention" },
      });
      expect(seqs(await from(2))).toEqual([3, 4]);
      expect(seqs(await from(0))).toEqual([3, 4]);
      expect(seqs(await readUntil(store, { sessionId: "ses_1", until: 4 }))).toEqual([3, 4]);
      expect((await early.next()).value).toMatchObject({ events: [{ seq: 3 }, { seq: 4 }] });
      expect(await store.checkIntegrity()).toEqual([]);
    });
  });
}

type Step =
  | { readonly do: "append"; readonly events: number; readonly sync: boolean }
  | { readonly do: "join"; readonly after: number }
  | { readonly do: "turn" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("append"),
    events: fc.integer({ min: 0, max: 4 }),
    sync: fc.boolean(),
  }),
  fc.record({ do: fc.constant("join"), after: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constant({ do: "turn" } as const),
);

/** Readers join at positions which they could have seen, while appends are running. */
async function expectOrderedReaders(
  open: () => Promise<Store>,
  steps: readonly Step[],
): Promise<void> {
  const store = await open();
  const { lease, head } = await acquire(store, "ses_1");
  const { incarnation } = head;
  const appends: Promise<unknown>[] = [];
  const readers: { after: number; read: (until: number) => Promise<readonly Envelope[]> }[] = [];
  let seq = 0;
  for (const one of steps) {
    if (one.do === "turn") await new Promise((resolve) => setImmediate(resolve));
    else if (one.do === "append") {
      const drafts = Array.from({ length: one.events }, (_, index) => delta(`${seq + index + 1}`));
      appends.push(store.append(lease, seq, entry(drafts, { sync: one.sync })));
      seq += one.events;
    } else {
      const seen = (await headOf(store, "ses_1")).seq;
      readers.push(startReader(store, { incarnation, seq: Math.floor(one.after * seen) }));
    }
  }
  await Promise.all(appends);
  for (const { after, read } of readers) {
    const expectedNumbers = Array.from({ length: seq - after }, (_, index) => after + index + 1);
    expect(seqs(await read(seq))).toEqual(expectedNumbers);
  }
  await store.close();
}

function startReader(store: Store, cursor: { incarnation: string; seq: number }) {
  const controller = new AbortController();
  const events: Envelope[] = [];
  let reached = (): void => {};
  let targetSeq = Number.POSITIVE_INFINITY;
  const reading = (async () => {
    for await (const batch of store.subscribe("ses_1", cursor, controller.signal)) {
      expect(batch.events.length).toBeGreaterThan(0);
      events.push(...batch.events);
      if ((events.at(-1)?.seq ?? 0) >= targetSeq) reached();
    }
  })();
  return {
    after: cursor.seq,
    async read(until: number) {
      targetSeq = until;
      const isThere = Math.max(cursor.seq, events.at(-1)?.seq ?? 0) >= until;
      if (!isThere) await new Promise<void>((resolve) => (reached = resolve));
      controller.abort();
      await reading;
      return events;
    },
  };
}
