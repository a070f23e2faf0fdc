import type { Bell } from "../bell.ts";
import { applyRetention } from "../retention.ts";
import type { SessionRecord, Store } from "../store.ts";
import { StoreError, storeClosed, wrongSeq } from "../store-error.ts";
import { AppendQueue, type WaitingEntry } from "./append-queue.ts";
import type { EventKinds } from "./event-kinds.ts";
import type { EventRows } from "./event-rows.ts";
import type { GroupSync } from "./group-sync.ts";
import { heldSession, Leases } from "./leases.ts";
import type { LiveSessions } from "./live-sessions.ts";
import type { NewSessions } from "./new-sessions.ts";
import type { ReadingStore } from "./reading-store.ts";
import { putBlob, writeSnapshot } from "./session-parts.ts";
import { deleteSession, findSession, readRecord, recordAfter } from "./session-rows.ts";
import type { Sql } from "./sql.ts";
import { sqliteRetention } from "./sqlite-retention.ts";
import { EntryWriter, type Written } from "./entry-writer.ts";

export interface WritingParts {
  readonly sql: Sql;
  readonly kinds: EventKinds;
  readonly rows: EventRows;
  readonly bell: Bell;
  readonly live: LiveSessions;
  readonly fresh: NewSessions;
  readonly sync: GroupSync;
  /** Whether the file that is written to is still the one at its path. */
  isInPlace(): boolean;
  /** Called last. */
  close(): Promise<void>;
}

export type WritingStore = Omit<Store, keyof ReadingStore>;

/** The half of a store that changes something. */
export function writingStore(parts: WritingParts): WritingStore {
  const { sql, kinds, rows, bell, live, fresh, sync } = parts;
  const leases = new Leases(sql, kinds);
  const writer = new EntryWriter(sql, kinds, fresh);
  const queue = new AppendQueue((entries) => appendAll(parts, writer, entries));

  /** Everything is done in the order in which it was asked for. */
  const write = <Result>(work: () => Result): Result => {
    expectUsable(parts);
    queue.flush();
    writer.forget();
    const result = sql.transaction(() => {
      fresh.write();
      return work();
    });
    fresh.written();
    return result;
  };
  const changed = (sessionId: string): void => {
    writer.forget();
    live.reset(sessionId, findSession(sql, sessionId)?.head);
    bell.ring(sessionId);
  };

  return {
    async acquire(sessionId, options) {
      expectUsable(parts);
      const isNew = !fresh.has(sessionId) && findSession(sql, sessionId) === undefined;
      if (isNew) return fresh.lease(sessionId, options);
      const acquired = write(() => leases.acquire(sessionId, options));
      // What the owner before wrote is there for the next one to read.
      if (live.hasUnseen(sessionId)) await sync.now();
      return acquired;
    },
    renew: async (lease, now, forMs) => write(() => leases.renew(lease, now + forMs)),
    release: async (lease) => write(() => leases.release(lease)),
    async append(lease, expectedSeq, entry) {
      expectUsable(parts);
      return queue.append(lease, expectedSeq, entry);
    },
    claimDue: async (now, options) => write(() => leases.claimDue(now, options)),
    async deleteSession(sessionId) {
      const key = write(() => {
        const found = findSession(sql, sessionId);
        if (found !== undefined) deleteSession(sql, found.key);
        return found?.key;
      });
      changed(sessionId);
      return key !== undefined;
    },
    putBlob: async (sessionId, blobId, bytes) =>
      write(() => putBlob(sql, sessionId, blobId, bytes)),
    saveSnapshot: async (lease, snapshot) =>
      write(() => {
        const { key, head } = heldSession(sql, lease);
        if (snapshot.seq > head.seq) throw wrongSeq(lease.sessionId, snapshot.seq, head.seq);
        writeSnapshot(sql, key, snapshot);
      }),
    async retain(rules) {
      write(() => {});
      const isBusy = (sessionId: string): boolean =>
        live.hasUnseen(sessionId) || live.hasReaders(sessionId);
      return applyRetention(sqliteRetention({ sql, kinds, rows, isBusy, changed }), rules);
    },
    async probe() {
      write(() => sql.run("UPDATE epochs SET last = last"));
      if (!parts.isInPlace()) {
        const message = `${sql.file} was removed or replaced while it was in use`;
        throw new StoreError("store_failed", message, { details: { file: sql.file } });
      }
    },
    async close() {
      if (bell.isClosed) return;
      queue.flush();
      bell.close();
      await sync.now().catch(() => {});
      await parts.close();
    },
  };
}

function expectUsable({ bell, sync }: WritingParts): void {
  if (bell.isClosed) throw storeClosed();
  if (sync.failure !== undefined) throw sync.failure;
}

/** One transaction for all of them; then each is shown and answered, at once or when it is on the disk. */
function appendAll(
  parts: WritingParts,
  writer: EntryWriter,
  entries: readonly WaitingEntry[],
): void {
  const { sync } = parts;
  const records = recordsBefore(parts, entries);
  let written: readonly Written[];
  try {
    written = writer.write(entries.map(({ encoded }) => encoded));
  } catch (error) {
    for (const { reject } of entries) reject(error);
    return;
  }
  const commit = sync.commit();
  for (const [index, entry] of entries.entries()) {
    const one = written[index];
    if (one?.ok) settle(parts, entry, { ...one, commit, records });
    else entry.reject(one?.error);
  }
}

/** The rows of sessions of which something will wait for the disk, as they may be seen meanwhile. */
function recordsBefore(
  { sql, live, fresh }: WritingParts,
  entries: readonly WaitingEntry[],
): Map<string, SessionRecord> {
  const records = new Map<string, SessionRecord>();
  for (const { encoded } of entries) {
    const { sessionId } = encoded.lease;
    if (!encoded.entry.sync || records.has(sessionId) || live.hasUnseen(sessionId)) continue;
    const record = fresh.record(sessionId) ?? readRecord(sql, sessionId);
    if (record !== undefined) records.set(sessionId, record);
  }
  return records;
}

interface Settling extends Extract<Written, { readonly ok: true }> {
  readonly commit: number;
  readonly records: Map<string, SessionRecord>;
}

function settle(
  { live, sync, bell }: WritingParts,
  { encoded, resolve, reject }: WaitingEntry,
  { appended, before, commit, records }: Settling,
): void {
  const { sessionId } = encoded.lease;
  const isNew = appended.status === "appended";
  const events = isNew ? encoded.events : [];
  const change = (record: SessionRecord): SessionRecord =>
    isNew ? recordAfter(record, encoded.entry) : record;
  const record = records.get(sessionId);
  const answer = (): void => {
    if (events.length > 0) bell.ring(sessionId);
    resolve(appended);
  };
  // Nothing overtakes an entry of its session that still waits for the disk.
  const needed = encoded.entry.sync ? commit : live.waitsFor(sessionId);
  if (sync.isSynced(needed)) {
    live.show(sessionId, events);
    if (record !== undefined) records.set(sessionId, change(record));
    return answer();
  }
  const held = live.hold(sessionId, { head: before, record, commit: needed });
  const seen = (): void => {
    held.end(events, change);
    answer();
  };
  // What the disk did not take stays unseen.
  sync.after(needed, seen, reject);
}
