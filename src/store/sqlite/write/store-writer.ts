import type { ChangeNotifier } from "../../subscribe-to-log.ts";
import type { AppendOutcome, Lease, LogEntry } from "../../log-store.ts";
import { applyRetention } from "../../retention.ts";
import type { SessionRecord } from "../../session-index.ts";
import type { StoreWriter } from "../../store.ts";
import { StoreError, createStoreClosedError, createWrongSeqError } from "../../store-error.ts";
import { AppendQueue, type WaitingEntry } from "./append-queue.ts";
import type { EventKinds } from "../file/event-kinds.ts";
import type { RecordStore } from "../../record-store.ts";
import type { RecordRows } from "../file/record-rows.ts";
import { createRecordWriter } from "./record-writer.ts";
import type { EventRows } from "../read/event-rows.ts";
import type { GroupSync } from "./group-sync.ts";
import { findLeasedSession, Leases } from "./leases.ts";
import type { LiveSessions } from "../read/live-sessions.ts";
import type { UnwrittenSessions } from "./unwritten-sessions.ts";
import {
  writeBlob,
  writeSnapshot,
  deleteSession,
  findSession,
  listTree,
  readRecord,
  evolveRecord,
} from "../file/session-rows.ts";
import type { Sql } from "../file/sql.ts";
import { createSqliteRetention } from "./sqlite-retention.ts";
import { EntryWriter, type EntryResult } from "./entry-writer.ts";

export interface StoreWriterParts {
  readonly sql: Sql;
  readonly kinds: EventKinds;
  readonly rows: EventRows;
  readonly records: RecordRows;
  readonly notifier: ChangeNotifier;
  readonly liveSessions: LiveSessions;
  readonly unwrittenSessions: UnwrittenSessions;
  readonly sync: GroupSync;
  /** True if the open file is still the file at its path. */
  isInPlace(): boolean;
  /** Closes the file. Called last, after all commits are synced. */
  close(): Promise<void>;
}

/**
 * The methods of a store that write. Reading records is included, because a record must not be returned before its
 * sync.
 */
export function createStoreWriter(parts: StoreWriterParts): StoreWriter & RecordStore {
  const { sql, kinds, rows, records, liveSessions, unwrittenSessions, sync } = parts;
  const leases = new Leases(sql, kinds);
  const writes = new OrderedWrites(parts);
  return {
    ...createRecordWriter({ records, sync, checkUsable: () => checkUsable(parts) }),
    async acquire(sessionId, options) {
      checkUsable(parts);
      const isNew = !unwrittenSessions.has(sessionId) && findSession(sql, sessionId) === undefined;
      if (isNew) return unwrittenSessions.acquire(sessionId, options);
      const acquired = writes.run(() => leases.acquire(sessionId, options));
      // Unsynced entries of the previous owner must be visible to the new owner.
      if (liveSessions.hasUnsynced(sessionId)) await sync.syncNow();
      return acquired;
    },
    renew: async (lease, now, forMs) => writes.run(() => leases.renew(lease, now + forMs)),
    release: async (lease) => writes.run(() => leases.release(lease)),
    append: async (lease, expectedSeq, entry) => writes.append(lease, expectedSeq, entry),
    claimDue: async (now, options) => writes.run(() => leases.claimDue(now, options)),
    async deleteSession(sessionId) {
      const deleted = writes.run(() => {
        const tree = listTree(sql, sessionId);
        for (const { key } of tree) deleteSession(sql, key);
        return tree.map((session) => session.sessionId);
      });
      for (const id of new Set([sessionId, ...deleted])) writes.invalidate(id);
      return deleted.includes(sessionId);
    },
    putBlob: async (sessionId, blobId, bytes) =>
      writes.run(() => writeBlob(sql, sessionId, blobId, bytes)),
    saveSnapshot: async (lease, snapshot) =>
      writes.run(() => {
        const { key, head } = findLeasedSession(sql, lease);
        if (snapshot.seq > head.seq)
          throw createWrongSeqError(lease.sessionId, snapshot.seq, head.seq);
        writeSnapshot(sql, key, snapshot);
      }),
    async applyRetention(rules) {
      writes.run(() => {});
      const isBusy = (sessionId: string): boolean =>
        liveSessions.hasUnsynced(sessionId) || liveSessions.hasReaders(sessionId);
      const onChange = (sessionId: string): void => writes.invalidate(sessionId);
      return applyRetention(createSqliteRetention({ sql, kinds, rows, isBusy, onChange }), rules);
    },
    probe: () => writes.probe(),
    close: () => writes.close(),
  };
}

/** All writes to the file, in the order of the calls. */
class OrderedWrites {
  readonly #parts: StoreWriterParts;
  readonly #writer: EntryWriter;
  readonly #queue: AppendQueue;

  constructor(parts: StoreWriterParts) {
    const { sql, kinds, unwrittenSessions } = parts;
    const writer = new EntryWriter(sql, kinds, unwrittenSessions);
    this.#parts = parts;
    this.#writer = writer;
    this.#queue = new AppendQueue((entries) => appendAll(parts, writer, entries));
  }

  /**
   * Runs `operation` in a transaction. Queued entries are written first, so all operations happen in the order of the
   * calls.
   */
  run<Result>(operation: () => Result): Result {
    const { sql, unwrittenSessions } = this.#parts;
    checkUsable(this.#parts);
    this.#queue.flush();
    this.#writer.clearCache();
    const result = sql.transaction(() => {
      unwrittenSessions.insertRows();
      return operation();
    });
    unwrittenSessions.clear();
    return result;
  }

  append(lease: Lease, expectedSeq: number, entry: LogEntry): Promise<AppendOutcome> {
    checkUsable(this.#parts);
    return this.#queue.append(lease, expectedSeq, entry);
  }

  /** Drops everything in memory about a session whose rows have changed. */
  invalidate(sessionId: string): void {
    const { sql, liveSessions, notifier } = this.#parts;
    this.#writer.clearCache();
    liveSessions.reset(sessionId, findSession(sql, sessionId)?.head);
    notifier.notify(sessionId);
  }

  async probe(): Promise<void> {
    const { sql, sync } = this.#parts;
    this.run(() => this.#writer.writeProbe());
    this.#writer.recordProbe();
    // The disk must also complete the write: a disk may accept writes and fail to sync them.
    await sync.syncNow();
    if (!this.#parts.isInPlace()) {
      const message = `${sql.file} was removed or replaced while it was in use`;
      throw new StoreError("store_failed", message, { details: { file: sql.file } });
    }
  }

  async close(): Promise<void> {
    const { notifier, sync } = this.#parts;
    if (notifier.isClosed) return;
    this.#queue.flush();
    notifier.close();
    await sync.syncNow().catch(() => {});
    await this.#parts.close();
  }
}

function checkUsable({ notifier, sync }: StoreWriterParts): void {
  if (notifier.isClosed) throw createStoreClosedError();
  if (sync.failure !== undefined) throw sync.failure;
}

/** Writes all entries in one transaction. Each entry is then published and resolved: at once, or after its sync. */
function appendAll(
  parts: StoreWriterParts,
  writer: EntryWriter,
  entries: readonly WaitingEntry[],
): void {
  const { sync } = parts;
  const records = readRecordsBefore(parts, entries);
  let written: readonly EntryResult[];
  try {
    written = writer.write(entries.map(({ encoded }) => encoded));
  } catch (error) {
    for (const { reject } of entries) reject(error);
    return;
  }
  const commit = sync.commit();
  for (const [index, entry] of entries.entries()) {
    const entryResult = written[index];
    if (entryResult?.ok) settleEntry(parts, entry, { ...entryResult, commit, records });
    else entry.reject(entryResult?.error);
  }
}

/** The current rows of sessions with entries to sync. These rows stay visible until the sync. */
function readRecordsBefore(
  { sql, liveSessions: live, unwrittenSessions: unwritten }: StoreWriterParts,
  entries: readonly WaitingEntry[],
): Map<string, SessionRecord> {
  const records = new Map<string, SessionRecord>();
  for (const { encoded } of entries) {
    const { sessionId } = encoded.lease;
    if (!encoded.entry.sync || records.has(sessionId) || live.hasUnsynced(sessionId)) continue;
    const record = unwritten.readRecord(sessionId) ?? readRecord(sql, sessionId);
    if (record !== undefined) records.set(sessionId, record);
  }
  return records;
}

interface EntrySettlement extends Extract<EntryResult, { readonly ok: true }> {
  readonly commit: number;
  readonly records: Map<string, SessionRecord>;
}

function settleEntry(
  { liveSessions: live, sync, notifier }: StoreWriterParts,
  { encoded, resolve, reject }: WaitingEntry,
  { appended, previousHead, commit, records }: EntrySettlement,
): void {
  const { sessionId } = encoded.lease;
  const isNew = appended.status === "appended";
  const events = isNew ? encoded.events : [];
  const change = (record: SessionRecord): SessionRecord =>
    isNew ? evolveRecord(record, encoded.entry) : record;
  const record = records.get(sessionId);
  const complete = (): void => {
    if (events.length > 0) notifier.notify(sessionId);
    resolve(appended);
  };
  // An entry never becomes visible before an earlier unsynced entry of its session.
  const requiredCommit = encoded.entry.sync ? commit : live.readRequiredCommit(sessionId);
  if (sync.isSynced(requiredCommit)) {
    live.publish(sessionId, events);
    if (record !== undefined) records.set(sessionId, change(record));
    return complete();
  }
  const unsyncedEntry = live.addUnsynced(sessionId, {
    head: previousHead,
    record,
    commit: requiredCommit,
  });
  const publish = (): void => {
    unsyncedEntry.publish(events, change);
    complete();
  };
  // Entries stay invisible if the sync fails.
  sync.waitForCommit(requiredCommit, publish, reject);
}
