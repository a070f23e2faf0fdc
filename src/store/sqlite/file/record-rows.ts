import type { JsonValue } from "../../../data/json.ts";
import type { Clock } from "../../../platform/clock.ts";
import { checkRecordQuery, encodeRecord } from "../../encode-record.ts";
import type {
  PutRecordOutcome,
  RecordPage,
  RecordQuery,
  RecordWrite,
  StoredRecord,
} from "../../record-store.ts";
import { StoreError } from "../../store-error.ts";
import type { Row, Sql } from "./sql.ts";

/** The table of records. `put` and `delete` run in one transaction each. */
export class RecordRows {
  readonly #sql: Sql;
  readonly #clock: Clock;

  constructor(sql: Sql, clock: Clock) {
    this.#sql = sql;
    this.#clock = clock;
  }

  read(scope: string, key: string): StoredRecord | undefined {
    const row = this.#sql.get(READ, scope, key, this.#clock.now());
    return row === undefined ? undefined : toRecord(row);
  }

  put(scope: string, key: string, write: RecordWrite): PutRecordOutcome {
    const value = encodeRecord(scope, key, write);
    const { expectedVersion, expiresAt = null } = write;
    return this.#sql.transaction(() => {
      this.#sql.run(REMOVE_EXPIRED, this.#clock.now(), MAX_EXPIRED_ROWS);
      const current = this.read(scope, key);
      if (expectedVersion !== undefined && (current?.version ?? null) !== expectedVersion) {
        return { status: "conflict", current };
      }
      const row = this.#sql.get(WRITE, scope, key, value, expiresAt);
      return { status: "stored", version: row?.number("version") ?? 0 };
    });
  }

  delete(scope: string, key: string, expectedVersion?: number): boolean {
    return this.#sql.transaction(() => {
      const current = this.read(scope, key);
      if (current === undefined) return false;
      if (expectedVersion !== undefined && expectedVersion !== current.version) return false;
      this.#sql.run("DELETE FROM records WHERE version = ?", current.version);
      return true;
    });
  }

  list(query: RecordQuery): RecordPage {
    checkRecordQuery(query);
    const { scope, afterKey = "", limit } = query;
    const rows = this.#sql.all(LIST, scope, afterKey, this.#clock.now(), limit + 1);
    const records = rows.slice(0, limit).map(toRecord);
    const last = records.at(-1);
    return last !== undefined && rows.length > limit ? { records, nextKey: last.key } : { records };
  }
}

function toRecord(row: Row): StoredRecord {
  const [scope, key] = [row.text("scope"), row.text("key")];
  return {
    scope,
    key,
    value: parseValue(scope, key, row.text("value")),
    version: row.number("version"),
    expiresAt: row.numberOrNull("expires_at"),
  };
}

function parseValue(scope: string, key: string, text: string): JsonValue {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const message = `The record ${key} of ${scope} cannot be read: its value is not JSON`;
    throw new StoreError("store_damaged", message, { details: { scope, key }, cause });
  }
}

const NOT_EXPIRED = "(expires_at IS NULL OR expires_at > ?)";
const READ = `SELECT scope, key, value, version, expires_at FROM records
  WHERE scope = ? AND key = ? AND ${NOT_EXPIRED}`;
const LIST = `SELECT scope, key, value, version, expires_at FROM records
  WHERE scope = ? AND key > ? AND ${NOT_EXPIRED} ORDER BY key LIMIT ?`;
/** The replaced row is deleted, and the new row gets the next version. */
const WRITE = `INSERT OR REPLACE INTO records (scope, key, value, expires_at) VALUES (?, ?, ?, ?)
  RETURNING version`;
const REMOVE_EXPIRED = `DELETE FROM records WHERE version IN
  (SELECT version FROM records WHERE expires_at <= ? LIMIT ?)`;
/**
 * The number of expired rows removed by each write: more than a write adds, so the table shrinks, and few enough not to
 * delay the caller.
 */
const MAX_EXPIRED_ROWS = 100;
