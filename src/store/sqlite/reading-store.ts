import type { Envelope } from "../../domain/envelope.ts";
import type { Bell } from "../bell.ts";
import { follow, type LogView } from "../follow.ts";
import type { Head, SessionRecord, Store } from "../store.ts";
import { storeClosed } from "../store-error.ts";
import { ReadingQueue } from "../reading-queue.ts";
import { batchOf, envelopesOf, isSmall, partOf, type SizedEvent } from "./batch-of.ts";
import { checkFile } from "./check-file.ts";
import type { EarlierEvents } from "./earlier-events.ts";
import type { EventRows } from "./event-rows.ts";
import { isIndexed } from "./search-index.ts";
import { findReply, readBlob, readSnapshot } from "./session-parts.ts";
import { findSession, listSessions, readRecord, storedSize, type Found } from "./session-rows.ts";
import type { Sql } from "./sql.ts";

export interface ReadingParts {
  readonly sql: Sql;
  readonly rows: EventRows;
  readonly bell: Bell;
  /** What is known beside the file. */
  readonly beside: Beside;
}

export interface Beside {
  /** What may be seen, when that is less than the file has. */
  head(sessionId: string): Head | undefined;
  record(sessionId: string): SessionRecord | undefined;
  recent(sessionId: string, after: number): readonly SizedEvent[] | undefined;
  /** Undefined where another process may drop what was read. */
  readonly earlier: EarlierEvents | undefined;
  join(sessionId: string, head: Head): () => void;
}

interface Given {
  readonly batch: readonly SizedEvent[];
  /** Undefined where they are large. */
  readonly envelopes: readonly Envelope[] | undefined;
}

export type ReadingStore = Pick<
  Store,
  | "findReply"
  | "read"
  | "page"
  | "examine"
  | "head"
  | "subscribe"
  | "sessions"
  | "session"
  | "blob"
  | "snapshot"
  | "check"
  | "size"
>;

/** The half of a store that changes nothing. */
export function readingStore({ sql, rows, bell, beside }: ReadingParts): ReadingStore {
  const file = (): Sql => {
    if (bell.isClosed) throw storeClosed();
    return sql;
  };
  const headOf = (sessionId: string): Head | undefined =>
    beside.head(sessionId) ?? findSession(file(), sessionId)?.head;
  const queue = new ReadingQueue();
  /** Another one, so that whoever takes a session up does not wait for all who catch up. */
  const pages = new ReadingQueue();
  let last: Given | undefined;
  const log: LogView = {
    head: headOf,
    next: (sessionId, after) => envelopesOf(nextOf(sessionId, after)),
    recent(sessionId, after) {
      const batch = beside.recent(sessionId, after);
      if (batch === undefined) return undefined;
      // Of many readers at one place each is given the same.
      if (batch !== last?.batch) {
        last = { batch, envelopes: isSmall(batch) ? envelopesOf(batch) : undefined };
      }
      return last.envelopes;
    },
    queue: (signal) => queue.wait(signal),
    join(sessionId) {
      const head = headOf(sessionId);
      return head === undefined ? () => {} : beside.join(sessionId, head);
    },
  };
  const nextOf = (sessionId: string, after: number): readonly SizedEvent[] => {
    const recent = beside.recent(sessionId, after);
    if (recent !== undefined) return recent;
    const found = findSession(file(), sessionId);
    if (found === undefined) return [];
    const { incarnation } = found.head;
    const known = batchOf(beside.earlier?.after(incarnation, after) ?? []);
    if (known.length > 0) return known;
    const events = batchIn(found, after);
    beside.earlier?.add(incarnation, events);
    return events;
  };
  const batchIn = (found: Found, after: number): readonly SizedEvent[] => {
    const through = beside.head(found.sessionId)?.seq ?? Number.MAX_SAFE_INTEGER;
    return rows.batch(found, { after, through });
  };
  return {
    async findReply(sessionId, commandId) {
      const found = findSession(file(), sessionId);
      return found && findReply(sql, found.key, commandId);
    },
    async read(sessionId, after, limit) {
      const found = findSession(file(), sessionId);
      const through = beside.head(sessionId)?.seq ?? Number.MAX_SAFE_INTEGER;
      return found === undefined ? [] : rows.read(found, { after, through }, limit);
    },
    async page(sessionId, after) {
      await pages.wait();
      const found = findSession(file(), sessionId);
      const batch = found === undefined ? [] : batchIn(found, after);
      pages.took(partOf(batch));
      return envelopesOf(batch);
    },
    async examine(sessionId, after, limit) {
      const found = findSession(file(), sessionId);
      const head = headOf(sessionId);
      if (found === undefined || head === undefined) return [];
      return rows.examine({ ...found, head }, after, limit);
    },
    async head(sessionId) {
      file();
      return headOf(sessionId);
    },
    subscribe: (sessionId, cursor, signal) => follow(log, bell, { sessionId, cursor }, signal),
    sessions: async (query) =>
      listSessions(file(), query, { indexed: isIndexed(sql), seen: (id) => beside.record(id) }),
    async session(sessionId) {
      const record = beside.record(sessionId) ?? readRecord(file(), sessionId);
      return record === undefined || record.seq === 0 ? undefined : record;
    },
    blob: async (sessionId, blobId) => readBlob(file(), sessionId, blobId),
    snapshot: async (sessionId, form) => readSnapshot(file(), sessionId, form),
    check: async () => checkFile(file(), rows),
    size: async () => storedSize(file()),
  };
}
