import type { Envelope } from "../../../domain/events/envelope.ts";
import { type ChangeNotifier, subscribeToLog, type LogView } from "../../subscribe-to-log.ts";
import type { LogHead } from "../../log-store.ts";
import type { SessionRecord } from "../../session-index.ts";
import type { StoreReader } from "../../store.ts";
import { createStoreClosedError } from "../../store-error.ts";
import { ReadQueue } from "../../read-queue.ts";
import {
  takeBatch,
  listEnvelopes,
  isSmallBatch,
  measureShare,
  type SizedEvent,
} from "./event-batch.ts";
import { checkFile } from "../file/check-file.ts";
import { watchSessions, type IndexView } from "../../watch-sessions.ts";
import type { EventCache } from "./event-cache.ts";
import type { RecordRows } from "../file/record-rows.ts";
import type { EventRows } from "./event-rows.ts";
import { isIndexed } from "../file/search-index.ts";
import {
  findReply,
  readBlob,
  readSnapshot,
  findSession,
  listSessions,
  readRecord,
  countStored,
  type SessionRow,
} from "../file/session-rows.ts";
import type { Sql } from "../file/sql.ts";

export interface StoreReaderParts {
  readonly sql: Sql;
  readonly rows: EventRows;
  readonly records: RecordRows;
  readonly notifier: ChangeNotifier;
  /** In-memory state that overrides the file. */
  readonly overlay: StoreOverlay;
}

export interface StoreOverlay {
  /** The visible end of the log while the file is ahead. Undefined if the row in the file is visible. */
  readHead(sessionId: string): LogHead | undefined;
  readRecord(sessionId: string): SessionRecord | undefined;
  readRecent(sessionId: string, after: number): readonly SizedEvent[] | undefined;
  /** Undefined in a read-only store, because another process may drop cached events. */
  readonly eventCache: EventCache | undefined;
  addReader(sessionId: string, head: LogHead): () => void;
  /** Registers a watcher of the session index. Absent if all changes are made by this process. */
  readonly addWatcher?: () => () => void;
}

/** The methods of a store that only read. */
export function createStoreReader(parts: StoreReaderParts): StoreReader {
  const { sql, rows, records, notifier, overlay } = parts;
  const openFile = (): Sql => openSql(parts);
  const log = createLogView(parts);
  /** A second queue: opening a session does not wait for subscriptions which catch up. */
  const pages = new ReadQueue();
  const index: IndexView = {
    findSession: async (sessionId) => findVisibleSession(parts, sessionId),
    ...(overlay.addWatcher !== undefined && { addWatcher: overlay.addWatcher }),
  };
  return {
    findReply: async (sessionId, commandId) => findReply(openFile(), sessionId, commandId),
    async read(sessionId, after, limit) {
      const session = findSession(openFile(), sessionId);
      const through = resolveVisibleEnd(parts, sessionId);
      return session === undefined ? [] : rows.read(session, { after, through }, limit);
    },
    async readPage(sessionId, after) {
      await pages.wait();
      const session = findSession(openFile(), sessionId);
      const batch = session === undefined ? [] : readFileBatch(parts, session, after);
      pages.finishRead(measureShare(batch));
      return listEnvelopes(batch);
    },
    async inspect(sessionId, after, limit) {
      const session = findSession(openFile(), sessionId);
      const head = resolveHead(parts, sessionId);
      if (session === undefined || head === undefined) return [];
      return rows.inspect({ ...session, head }, after, limit);
    },
    async readHead(sessionId) {
      openFile();
      return resolveHead(parts, sessionId);
    },
    subscribe: (sessionId, cursor, signal) =>
      subscribeToLog(log, notifier, { sessionId, cursor }, signal),
    listSessions: async (query) =>
      listSessions(openFile(), query, {
        isIndexed: isIndexed(sql),
        findVisibleRecord: (id) => overlay.readRecord(id),
      }),
    findSession: index.findSession,
    watchSessions: (signal) => watchSessions(index, notifier, signal),
    readBlob: async (sessionId, blobId) => readBlob(openFile(), sessionId, blobId),
    readSnapshot: async (sessionId, form) => readSnapshot(openFile(), sessionId, form),
    async readRecord(scope, key) {
      openFile();
      return records.read(scope, key);
    },
    async listRecords(query) {
      openFile();
      return records.list(query);
    },
    checkIntegrity: async () => checkFile(openFile(), rows),
    measureSize: async () => countStored(openFile()),
  };
}

function openSql({ sql, notifier }: StoreReaderParts): Sql {
  if (notifier.isClosed) throw createStoreClosedError();
  return sql;
}

/** A session without a visible event does not exist for readers. */
function findVisibleSession(parts: StoreReaderParts, sessionId: string): SessionRecord | undefined {
  const record = parts.overlay.readRecord(sessionId) ?? readRecord(openSql(parts), sessionId);
  return record === undefined || record.seq === 0 ? undefined : record;
}

interface SharedBatch {
  readonly batch: readonly SizedEvent[];
  /** Undefined for a large batch, which each reader reads in its own tick. */
  readonly envelopes: readonly Envelope[] | undefined;
}

/** The log as seen by subscriptions. */
function createLogView(parts: StoreReaderParts): LogView {
  const { overlay } = parts;
  const queue = new ReadQueue();
  let last: SharedBatch | undefined;
  return {
    readHead: (sessionId) => resolveHead(parts, sessionId),
    readNext: (sessionId, after) => listEnvelopes(readNextBatch(parts, sessionId, after)),
    readRecent(sessionId, after) {
      const batch = overlay.readRecent(sessionId, after);
      if (batch === undefined) return undefined;
      // Readers at the same position share one array.
      if (batch !== last?.batch) {
        last = { batch, envelopes: isSmallBatch(batch) ? listEnvelopes(batch) : undefined };
      }
      return last.envelopes;
    },
    waitForRead: (signal) => queue.wait(signal),
    addReader(sessionId) {
      const head = resolveHead(parts, sessionId);
      return head === undefined ? () => {} : overlay.addReader(sessionId, head);
    },
  };
}

function resolveHead(parts: StoreReaderParts, sessionId: string): LogHead | undefined {
  return parts.overlay.readHead(sessionId) ?? findSession(openSql(parts), sessionId)?.head;
}

function readNextBatch(
  parts: StoreReaderParts,
  sessionId: string,
  after: number,
): readonly SizedEvent[] {
  const { overlay } = parts;
  const recent = overlay.readRecent(sessionId, after);
  if (recent !== undefined) return recent;
  const session = findSession(openSql(parts), sessionId);
  if (session === undefined) return [];
  const { incarnation } = session.head;
  const cached = takeBatch(overlay.eventCache?.readAfter(incarnation, after) ?? []);
  if (cached.length > 0) return cached;
  const events = readFileBatch(parts, session, after);
  overlay.eventCache?.add(incarnation, events);
  return events;
}

function readFileBatch(
  parts: StoreReaderParts,
  session: SessionRow,
  after: number,
): readonly SizedEvent[] {
  const through = resolveVisibleEnd(parts, session.sessionId);
  return parts.rows.readBatch(session, { after, through });
}

/** Position of the last visible event. The file may be ahead of it. */
function resolveVisibleEnd({ overlay }: StoreReaderParts, sessionId: string): number {
  return overlay.readHead(sessionId)?.seq ?? Number.MAX_SAFE_INTEGER;
}
