import type { BlobStore } from "./blob-store.ts";
import type { LeaseStore } from "./lease-store.ts";
import type { LogStore } from "./log-store.ts";
import type { RecordStore } from "./record-store.ts";
import type { SessionIndex } from "./session-index.ts";
import type { SnapshotStore } from "./snapshot-store.ts";

/**
 * All contracts of one store, and the operations on the store as a whole. Callers depend on the narrowest contract they
 * use; only the code that opens and closes a store needs all of them.
 *
 * ```ts
 * const store: Store = await openSqliteStore({ file: "sessions.db" });
 * const sessions = createSessions({ store, ... });
 * await store.close();
 * ```
 *
 * Every implementation passes `test/contracts/store-contract.ts`.
 */
export interface Store
  extends LogStore, SessionIndex, BlobStore, SnapshotStore, LeaseStore, RecordStore {
  /**
   * Drops the deltas of finished blocks, then whole sessions, until the rules hold. Skips sessions that have a lease,
   * a reader or a `wakeAt`, or which are not idle.
   */
  applyRetention(rules: RetentionRules): Promise<RetentionResult>;
  /** Examines the whole store: missing and unreadable events, damage of the file. One sentence per problem. */
  checkIntegrity(): Promise<readonly string[]>;
  /**
   * Writes and syncs like an append, without an event. After a failed append, the probe needs as much space as the
   * failed append. Rejects with the reason.
   */
  probe(): Promise<void>;
  /** The number of stored sessions and events. */
  measureSize(): Promise<{ readonly sessions: number; readonly events: number }>;
  /** Every later call throws `store_closed`; running subscriptions end. */
  close(): Promise<void>;
}

/** The methods that only read. */
export type StoreReader = Pick<
  Store,
  | "findReply"
  | "read"
  | "readPage"
  | "inspect"
  | "readHead"
  | "subscribe"
  | "listSessions"
  | "findSession"
  | "watchSessions"
  | "readBlob"
  | "readSnapshot"
  | "readRecord"
  | "listRecords"
  | "checkIntegrity"
  | "measureSize"
>;

export type StoreWriter = Omit<Store, keyof StoreReader>;

export interface RetentionRules {
  readonly now: number;
  /** Sessions without an event since this time are deleted. Default: none. */
  readonly inactiveSince?: number;
  /** The limit on the bytes of all events; the oldest sessions are deleted first. Default: no limit. */
  readonly maxBytes?: number;
  /**
   * Leases of this owner count even after they expired, because a sleeping machine does not renew them. Default: none.
   */
  readonly owner?: string;
}

export interface RetentionResult {
  readonly deletedSessions: number;
  readonly droppedEvents: number;
  /** The bytes of all events. Greater than `maxBytes` if the remaining sessions are in use. */
  readonly bytes: number;
}
