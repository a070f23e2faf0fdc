import { ReadQueue } from "../read-queue.ts";
import type { StoreReader } from "../store.ts";
import { subscribeToLog, type ChangeNotifier, type LogView } from "../subscribe-to-log.ts";
import { watchSessions } from "../watch-sessions.ts";
import type { RecordRows } from "./record-rows.ts";
import { listSessions, type MemorySession } from "./session-rows.ts";

export interface StoreReaderParts {
  /** Throws `store_closed` if the store is closed. */
  readonly openSessions: () => ReadonlyMap<string, MemorySession>;
  readonly records: RecordRows;
  readonly notifier: ChangeNotifier;
}

/** The methods of a store that only read. */
export function createStoreReader({
  openSessions,
  records,
  notifier,
}: StoreReaderParts): StoreReader {
  const find = (sessionId: string): MemorySession | undefined => openSessions().get(sessionId);
  const pages = new ReadQueue();
  const log = createLogView(find);
  const findSession: StoreReader["findSession"] = async (sessionId) => {
    const record = find(sessionId)?.record;
    return record !== undefined && record.seq > 0 ? record : undefined;
  };
  return {
    findReply: async (sessionId, commandId) => find(sessionId)?.replies.get(commandId),
    read: async (sessionId, after, limit) => find(sessionId)?.read(after, limit) ?? [],
    async readPage(sessionId, after) {
      await pages.wait();
      const events = find(sessionId)?.read(after, BATCH_SIZE) ?? [];
      pages.finishRead(events.length / BATCH_SIZE);
      return events;
    },
    inspect: async (sessionId, after, limit) =>
      (find(sessionId)?.read(after, limit) ?? []).map((envelope) => ({
        status: "readable",
        seq: envelope.seq,
        envelope,
      })),
    readHead: async (sessionId) => find(sessionId)?.head,
    subscribe: (sessionId, cursor, signal) =>
      subscribeToLog(log, notifier, { sessionId, cursor }, signal),
    listSessions: async (query) => listSessions([...openSessions().values()], query),
    findSession,
    watchSessions: (signal) => watchSessions({ findSession }, notifier, signal),
    readBlob: async (sessionId, blobId) => find(sessionId)?.blobs.get(blobId)?.slice(),
    async readSnapshot(sessionId, version) {
      const snapshot = find(sessionId)?.snapshot;
      return snapshot?.version === version ? snapshot : undefined;
    },
    async readRecord(scope, key) {
      openSessions();
      return records.read(scope, key);
    },
    async listRecords(query) {
      openSessions();
      return records.list(query);
    },
    checkIntegrity: async () => [],
    async measureSize() {
      const sessions = [...openSessions().values()].filter(({ record }) => record.seq > 0);
      const events = sessions.reduce((sum, { length }) => sum + length, 0);
      return { sessions: sessions.length, events };
    },
  };
}

function createLogView(find: (sessionId: string) => MemorySession | undefined): LogView {
  return {
    readHead: (sessionId) => find(sessionId)?.head,
    readNext: (sessionId, after) => find(sessionId)?.read(after, BATCH_SIZE) ?? [],
    addReader(sessionId) {
      const session = find(sessionId);
      if (session === undefined) return () => undefined;
      session.readers += 1;
      return () => void (session.readers -= 1);
    },
  };
}

const BATCH_SIZE = 512;
