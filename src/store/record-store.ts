import type { JsonValue } from "../data/json.ts";

/**
 * Small JSON values outside of sessions: the budget of a principal for a day, the response to an idempotent HTTP
 * request, the push configuration of an A2A client.
 *
 * A record is identified by scope and key. Each write gives the record a new version. A write may require the version
 * read before by its caller, so two callers never overwrite each other:
 *
 * ```ts
 * const key = "ada/2026-11-18";
 * for (;;) {
 *   const record = await store.readRecord("budget", key);
 *   const outcome = await store.putRecord("budget", key, {
 *     value: { tokens: readTokens(record?.value) + usedTokens },
 *     expectedVersion: record?.version ?? null,
 *     expiresAt: endOfDay,
 *   });
 *   if (outcome.status === "stored") break;
 * }
 * ```
 *
 * - A write and a deletion resolve after they are on the disk, and no caller sees them earlier.
 * - A record whose `expiresAt` has passed, by the clock of the store, does not exist for any method. Later writes remove
 *   its bytes.
 * - A read-only store refuses `putRecord` and `deleteRecord` (`store_failed`).
 */
export interface RecordStore {
  /** Undefined if the record does not exist or has expired. */
  readRecord(scope: string, key: string): Promise<StoredRecord | undefined>;
  /**
   * Creates or replaces a record, if it has the expected version. Throws `invalid_option` if the scope or the key is empty
   * or longer than `MAX_RECORD_NAME_LENGTH`, or if the value as JSON is larger than `MAX_RECORD_BYTES`.
   */
  putRecord(scope: string, key: string, write: RecordWrite): Promise<PutRecordOutcome>;
  /** Deletes a record, if it has the expected version. Default: any version. False if no record was deleted. */
  deleteRecord(scope: string, key: string, expectedVersion?: number): Promise<boolean>;
  /** One page of a scope, by key in the order of UTF-8 bytes. */
  listRecords(query: RecordQuery): Promise<RecordPage>;
}

export interface StoredRecord {
  readonly scope: string;
  readonly key: string;
  readonly value: JsonValue;
  /** Grows with every write to the store. A version is never used twice, also not after a deletion. */
  readonly version: number;
  /** Milliseconds since 1970. Null if the record does not expire. */
  readonly expiresAt: number | null;
}

export interface RecordWrite {
  readonly value: JsonValue;
  /** The version to replace; null if the record must not exist. Default: any version or none. */
  readonly expectedVersion?: number | null;
  /** Milliseconds since 1970. Default: the record does not expire, even if the replaced record did. */
  readonly expiresAt?: number;
}

export type PutRecordOutcome =
  | { readonly status: "stored"; readonly version: number }
  /** The record has another version than expected. `current` is undefined if the record does not exist. */
  | { readonly status: "conflict"; readonly current: StoredRecord | undefined };

export interface RecordQuery {
  readonly scope: string;
  /** Only records with a greater key: `nextKey` of the previous page. Default: the first page. */
  readonly afterKey?: string;
  readonly limit: number;
}

export interface RecordPage {
  readonly records: readonly StoredRecord[];
  /** The last key of the page. Absent on the last page. */
  readonly nextKey?: string;
}

/** UTF-16 code units of a scope or a key. */
export const MAX_RECORD_NAME_LENGTH = 512;
/** Bytes of a value as JSON. A larger value belongs into a blob. */
export const MAX_RECORD_BYTES = 65_536;
