import type { AppendOutcome, LogEntry } from "../log-store.ts";
import { applyRetention } from "../retention.ts";
import type { StoreWriter } from "../store.ts";
import { createBlobTakenError, createNoSessionError, createWrongSeqError } from "../store-error.ts";
import type { ChangeNotifier } from "../subscribe-to-log.ts";
import { Leases } from "./leases.ts";
import { createMemoryRetention } from "./memory-retention.ts";
import type { RecordRows } from "./record-rows.ts";
import { listTree, type MemorySession } from "./session-rows.ts";

export interface StoreWriterParts {
  readonly sessions: Map<string, MemorySession>;
  readonly records: RecordRows;
  readonly notifier: ChangeNotifier;
  /** Throws `store_closed` if the store is closed. */
  checkUsable(): void;
}

/** The methods of a store that write. */
export function createStoreWriter(parts: StoreWriterParts): StoreWriter {
  const { sessions, records, notifier } = parts;
  const leases = new Leases(sessions);
  const write = async <Result>(operation: () => Result): Promise<Result> => {
    parts.checkUsable();
    return operation();
  };
  const remove = (sessionId: string): boolean => {
    for (const id of listTree(sessions, sessionId)) {
      sessions.delete(id);
      notifier.notify(id);
    }
    return true;
  };
  return {
    acquire: (sessionId, options) => write(() => leases.acquire(sessionId, options)),
    renew: (lease, now, durationMs) => write(() => leases.renew(lease, now + durationMs)),
    release: (lease) => write(() => leases.release(lease)),
    claimDue: (now, options) => write(() => leases.claimDue(now, options)),
    append: (lease, expectedSeq, entry) =>
      write(() => {
        const outcome = appendEntry(leases.findLeasedSession(lease), expectedSeq, entry);
        if (outcome.status === "appended") notifier.notify(lease.sessionId);
        return outcome;
      }),
    deleteSession: (sessionId) => write(() => sessions.has(sessionId) && remove(sessionId)),
    putBlob: (sessionId, blobId, bytes) =>
      write(() => {
        const session = sessions.get(sessionId);
        if (session === undefined) throw createNoSessionError(sessionId);
        const existingBlob = session.blobs.get(blobId);
        if (existingBlob === undefined) session.blobs.set(blobId, bytes.slice());
        else if (Buffer.compare(existingBlob, bytes) !== 0)
          throw createBlobTakenError(sessionId, blobId);
      }),
    saveSnapshot: (lease, snapshot) =>
      write(() => {
        const session = leases.findLeasedSession(lease);
        const { seq } = session.head;
        if (snapshot.seq > seq) throw createWrongSeqError(lease.sessionId, snapshot.seq, seq);
        session.snapshot = snapshot;
      }),
    putRecord: (scope, key, record) => write(() => records.put(scope, key, record)),
    deleteRecord: (scope, key, expectedVersion) =>
      write(() => records.delete(scope, key, expectedVersion)),
    async applyRetention(rules) {
      parts.checkUsable();
      return applyRetention(createMemoryRetention(sessions, remove), rules);
    },
    probe: () => write(() => undefined),
    async close() {
      notifier.close();
      sessions.clear();
    },
  };
}

/** Throws `wrong_seq` for a new command if the log of the session does not end at `expectedSeq`. */
function appendEntry(session: MemorySession, expectedSeq: number, entry: LogEntry): AppendOutcome {
  const reply = entry.command && session.replies.get(entry.command.id);
  if (reply !== undefined) return { status: "repeated", reply };
  const { seq } = session.head;
  if (seq !== expectedSeq) throw createWrongSeqError(session.record.sessionId, expectedSeq, seq);
  return { status: "appended", events: session.append(entry) };
}
