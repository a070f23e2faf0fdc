import type { Clock } from "../../platform/clock.ts";
import { checkRecordQuery, encodeRecord } from "../encode-record.ts";
import type {
  PutRecordOutcome,
  RecordPage,
  RecordQuery,
  RecordWrite,
  StoredRecord,
} from "../record-store.ts";

/** A record with its value as JSON text, which protects stored values against changes by a caller. */
type RecordRow = Omit<StoredRecord, "value"> & { readonly text: string };

export class RecordRows {
  readonly #clock: Clock;
  readonly #scopes = new Map<string, Map<string, RecordRow>>();
  #version = 0;
  #size = 0;
  /**
   * The number of records which triggers the removal of expired records. The removal scans all records, so it must be
   * rare.
   */
  #cleanupSize = MIN_CLEANUP_SIZE;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of rows, including expired records not yet removed. */
  get size(): number {
    return this.#size;
  }

  read(scope: string, key: string): StoredRecord | undefined {
    const row = this.#scopes.get(scope)?.get(key);
    return row === undefined || this.#isExpired(row) ? undefined : toRecord(row);
  }

  put(scope: string, key: string, write: RecordWrite): PutRecordOutcome {
    const text = encodeRecord(scope, key, write);
    const { expectedVersion, expiresAt = null } = write;
    const current = this.read(scope, key);
    if (expectedVersion !== undefined && (current?.version ?? null) !== expectedVersion) {
      return { status: "conflict", current };
    }
    if (this.#size >= this.#cleanupSize) this.#removeExpired();
    const rows = this.#scopes.get(scope) ?? new Map<string, RecordRow>();
    this.#scopes.set(scope, rows);
    if (!rows.has(key)) this.#size += 1;
    this.#version += 1;
    rows.set(key, { scope, key, text, version: this.#version, expiresAt });
    return { status: "stored", version: this.#version };
  }

  delete(scope: string, key: string, expectedVersion?: number): boolean {
    const current = this.read(scope, key);
    if (current === undefined) return false;
    if (expectedVersion !== undefined && expectedVersion !== current.version) return false;
    this.#remove(scope, key);
    return true;
  }

  list(query: RecordQuery): RecordPage {
    checkRecordQuery(query);
    const { scope, afterKey = "", limit } = query;
    const matching = [...(this.#scopes.get(scope)?.values() ?? [])]
      .filter((row) => !this.#isExpired(row) && compareKeys(row.key, afterKey) > 0)
      .sort((first, second) => compareKeys(first.key, second.key));
    const records = matching.slice(0, limit).map(toRecord);
    const last = records.at(-1);
    return last !== undefined && matching.length > limit
      ? { records, nextKey: last.key }
      : { records };
  }

  #isExpired({ expiresAt }: RecordRow): boolean {
    return expiresAt !== null && expiresAt <= this.#clock.now();
  }

  #removeExpired(): void {
    for (const rows of this.#scopes.values()) {
      for (const row of rows.values()) if (this.#isExpired(row)) this.#remove(row.scope, row.key);
    }
    this.#cleanupSize = Math.max(MIN_CLEANUP_SIZE, 2 * this.#size);
  }

  #remove(scope: string, key: string): void {
    const rows = this.#scopes.get(scope);
    if (rows?.delete(key) !== true) return;
    this.#size -= 1;
    if (rows.size === 0) this.#scopes.delete(scope);
  }
}

function toRecord({ text, ...row }: RecordRow): StoredRecord {
  return { ...row, value: JSON.parse(text) };
}

/** Compares in the order of UTF-8 bytes, like SQLite. JavaScript strings have another order (UTF-16 code units). */
function compareKeys(first: string, second: string): number {
  return Buffer.compare(Buffer.from(first), Buffer.from(second));
}

const MIN_CLEANUP_SIZE = 1000;
