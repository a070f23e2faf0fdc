import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Cursor } from "../../src/domain/events/envelope.ts";
import type { EventBatch, Lease } from "../../src/store/log-store.ts";
import type { Store } from "../../src/store/store.ts";
import {
  delta,
  entry,
  finished,
  headOf,
  HOUR,
  NOW,
  readUntil,
  seqs,
  sessionOf,
} from "../contracts/store/store-subject.ts";
import { opened, tamper, temporaryFile } from "./sqlite-support.ts";

const never = new AbortController().signal;
const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** Must equal the limit in `src/store/sqlite/read/event-batch.ts`. */
const BATCH_BYTES = 256 * 1024;

interface Logged {
  readonly store: Store;
  readonly lease: Lease;
}

/** A session with events of the given length. No event is cached. */
async function logged(count: number, length: number): Promise<Logged> {
  const store = await opened({ file: temporaryFile() });
  const lease = await sessionOf(store, "ses_1", 0);
  await grow({ store, lease }, count, length);
  return { store, lease };
}

async function grow({ store, lease }: Logged, count: number, length: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const { seq } = await headOf(store, "ses_1");
    await store.append(lease, seq, entry([delta("x".repeat(length))]));
  }
}

type Reader = AsyncIterator<EventBatch>;

function reader(store: Store, sessionId = "ses_1", cursor?: Cursor): Reader {
  const iterator = store.subscribe(sessionId, cursor, never)[Symbol.asyncIterator]();
  onTestFinished(async () => void (await iterator.return?.()));
  return iterator;
}

function bytesOf({ events }: EventBatch): number {
  return JSON.stringify(events).length;
}

/** Counts the parsed texts of at least this length from now on: each is a row read from the file. */
function countedRows(length: number): () => number {
  const parse = vi.spyOn(JSON, "parse");
  onTestFinished(() => parse.mockRestore());
  return () => parse.mock.calls.filter(([text]) => text.length >= length).length;
}

/** The number of results per tick, until all have arrived. */
async function arrivals(coming: readonly Promise<unknown>[]): Promise<readonly number[]> {
  let arrived = 0;
  for (const one of coming) void one.then(() => (arrived += 1));
  const seen: number[] = [];
  for (let before = 0; before < coming.length; before = arrived) {
    await nextTick();
    if (arrived > before) seen.push(arrived - before);
  }
  return seen;
}

describe("Many readers of a session", () => {
  it("Readers that catch up together read the file once, wherever they start", async () => {
    const count = 40;
    const { store } = await logged(count, 100_000);
    const { incarnation } = await headOf(store, "ses_1");
    const rows = countedRows(100_000);
    const starts = Array.from({ length: 30 }, (_, index) => index % 3);
    const all = await Promise.all(
      starts.map((seq) =>
        readUntil(store, { sessionId: "ses_1", cursor: { incarnation, seq }, until: count }),
      ),
    );
    for (const [index, events] of all.entries()) {
      const first = (starts[index] ?? 0) + 1;
      const expectedNumbers = Array.from({ length: count - first + 1 }, (_, at) => first + at);
      expect(seqs(events)).toEqual(expectedNumbers);
    }
    expect(rows()).toBeGreaterThanOrEqual(count);
    expect(rows()).toBeLessThan(3 * count);
  });

  it("Readers do not read the file in the same tick", async () => {
    const { store } = await logged(30, 100_000);
    const readers = Array.from({ length: 30 }, () => reader(store));
    const perTurn = await arrivals(readers.map((one) => one.next()));
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(2);
  });

  it("Readers receive a large event in separate ticks and a small event all at once", async () => {
    const { store, lease } = await logged(1, 10);
    const readers = Array.from({ length: 30 }, () => reader(store));
    await Promise.all(readers.map((one) => one.next()));
    const arriving = arrivals(readers.map((one) => one.next()));
    await store.append(lease, 1, entry([delta("a")]));
    expect(await arriving).toEqual([30]);
    const large = arrivals(readers.map((one) => one.next()));
    await store.append(lease, 2, entry([delta("x".repeat(100_000))]));
    expect(Math.max(...(await large))).toBeLessThanOrEqual(2);
  });

  it("A live reader does not wait for readers which catch up", async () => {
    const { store, lease } = await logged(30, 100_000);
    const { incarnation, seq } = await headOf(store, "ses_1");
    const live = reader(store, "ses_1", { incarnation, seq });
    const next = live.next();
    let behind = 0;
    for (let at = 0; at < 30; at++) {
      void reader(store)
        .next()
        .then(() => (behind += 1));
    }
    await store.append(lease, seq, entry([delta("a")]));
    expect((await next).value).toMatchObject({ events: [{ seq: seq + 1 }] });
    expect(behind).toBeLessThan(30);
  });

  it("Readers do not see cached events that were dropped since", async () => {
    const { store, lease } = await logged(0, 0);
    const drafts = [delta("a"), delta("b"), finished("ab"), delta("c", { block: 1 })];
    await store.append(lease, 0, entry(drafts));
    await store.release(lease);
    // Keeps a reader on another session, because the caches are cleared when the last reader leaves.
    await sessionOf(store, "ses_2", 1);
    await reader(store, "ses_2").next();
    expect(await readUntil(store, { sessionId: "ses_1", until: 4 })).toHaveLength(4);
    await store.applyRetention({ now: NOW + HOUR, maxBytes: 420 });
    expect(seqs(await readUntil(store, { sessionId: "ses_1", until: 4 }))).toEqual([3, 4]);
  });

  it("Readers do not see events of a session that was deleted and created again", async () => {
    const { store } = await logged(3, 10);
    await reader(store).next();
    await store.deleteSession("ses_1");
    const lease = await sessionOf(store, "ses_1", 0);
    await store.append(lease, 0, entry([delta("new"), delta("newer")]));
    expect(await readUntil(store, { sessionId: "ses_1", until: 2 })).toMatchObject([
      { event: { text: "new" } },
      { event: { text: "newer" } },
    ]);
  });
});

describe("Slow reader", () => {
  it("At most one batch, limited in bytes, is read ahead for a slow reader", async () => {
    const { store } = await logged(60, 50_000);
    const rows = countedRows(50_000);
    const slow = reader(store);
    for (let batches = 1, events = 0; events < 60; batches++) {
      const { value } = await slow.next();
      if (value === undefined) break;
      events += value.events.length;
      expect(bytesOf(value)).toBeLessThan(BATCH_BYTES + 51_000);
      for (let turn = 0; turn < 5; turn++) await nextTick();
      expect(rows()).toBe(events);
      expect(events).toBeLessThanOrEqual(batches * 6);
    }
  });

  it("A slow reader receives batches of the same size from memory", async () => {
    const { store, lease } = await logged(1, 10);
    const slow = reader(store);
    await slow.next();
    await grow({ store, lease }, 9, 100_000);
    const sizes: number[] = [];
    for (let events = 0; events < 9;) {
      const { value } = await slow.next();
      if (value === undefined) break;
      events += value.events.length;
      sizes.push(bytesOf(value));
    }
    expect(Math.max(...sizes)).toBeLessThan(BATCH_BYTES + 101_000);
  });

  it("A slow reader holds no lock on the file between two batches", async () => {
    const file = temporaryFile();
    const store = await opened({ file });
    const lease = await sessionOf(store, "ses_1", 0);
    await grow({ store, lease }, 10, 100_000);
    const slow = reader(await opened({ file, readOnly: true }));
    expect((await slow.next()).value?.events).toHaveLength(3);
    await tamper(file, (database) => {
      const checkpoint = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
      expect(checkpoint).toMatchObject({ busy: 0 });
    });
  });

  it("An event larger than a batch is delivered alone", async () => {
    const { store } = await logged(2, 3 * BATCH_BYTES);
    const slow = reader(store);
    expect((await slow.next()).value?.events).toHaveLength(1);
    expect((await slow.next()).value?.events).toHaveLength(1);
  });
});
