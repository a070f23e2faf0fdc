import type { Sql } from "../file/sql.ts";

/**
 * Shows whether an append would succeed. A probe that changes one row in place needs no space, and succeeds on a disk
 * that is too full for any event; so it rewrites a blob of several pages. Deleting the blob in the same transaction
 * would leave its pages unwritten, and equal bytes would, too.
 */
export class WriteProbe {
  readonly #sql: Sql;
  #bytes = PROBE_BYTES;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Within a transaction. */
  write(): void {
    this.#sql.run(WRITE_PROBE, this.#bytes);
  }

  recordSuccess(): void {
    this.#bytes = PROBE_BYTES;
  }

  /** Of an append. Until the next success a probe needs as much space. */
  recordFailure(bytes: number): void {
    this.#bytes = Math.min(Math.max(this.#bytes, PROBE_BYTES + bytes), MAX_PROBE_BYTES);
  }
}

/** The keys of sessions begin at 1, so no session has this blob. */
const WRITE_PROBE = `INSERT INTO blobs (session, id, bytes) VALUES (0, 'probe', randomblob(?))
  ON CONFLICT (session, id) DO UPDATE SET bytes = excluded.bytes`;
/** A prompt and the start of its invocation. */
const PROBE_BYTES = 16_384;
const MAX_PROBE_BYTES = 16_777_216;
