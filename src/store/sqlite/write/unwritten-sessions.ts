import { randomString } from "../../../platform/random.ts";
import type { AcquireOptions, AcquiredLease } from "../../lease-store.ts";
import type { Lease, LogHead } from "../../log-store.ts";
import type { SessionRecord } from "../../session-index.ts";
import type { Sql } from "../file/sql.ts";

interface UnwrittenSession {
  readonly lease: Lease;
  readonly head: LogHead;
  readonly createdAt: number;
  readonly leasedUntil: number;
}

/**
 * Leased sessions without a row in the file. Their rows are inserted by the next transaction, which usually writes
 * their first entry. A crash before then loses no data: a session without events is invisible to clients.
 */
export class UnwrittenSessions {
  readonly #sql: Sql;
  readonly #waiting = new Map<string, UnwrittenSession>();
  #lastEpoch = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  has(sessionId: string): boolean {
    return this.#waiting.has(sessionId);
  }

  readHead(sessionId: string): LogHead | undefined {
    return this.#waiting.get(sessionId)?.head;
  }

  /** The session's row, as inserted later: without events. */
  readRecord(sessionId: string): SessionRecord | undefined {
    const session = this.#waiting.get(sessionId);
    if (session === undefined) return undefined;
    const { head, createdAt } = session;
    return {
      sessionId,
      incarnation: head.incarnation,
      agent: "",
      principal: "",
      state: "idle",
      title: null,
      workingDirectory: null,
      folders: [],
      label: null,
      lineage: null,
      createdAt,
      updatedAt: createdAt,
      seq: 0,
      wakeAt: null,
    };
  }

  /** Leases a new session. The session must be neither in the file nor here. */
  acquire(sessionId: string, { owner, now, durationMs }: AcquireOptions): AcquiredLease {
    const lastEpoch = this.#sql.get("SELECT last FROM epochs")?.number("last") ?? 0;
    this.#lastEpoch = Math.max(this.#lastEpoch, lastEpoch) + 1;
    const lease = { sessionId, owner, epoch: this.#lastEpoch };
    const head = { incarnation: randomString(22), seq: 0, firstSeq: 1 };
    this.#waiting.set(sessionId, { lease, head, createdAt: now, leasedUntil: now + durationMs });
    return { lease, head, wasAbandoned: false };
  }

  /** Inserts all rows. Call within a transaction, before any other statement. */
  insertRows(): void {
    if (this.#waiting.size === 0) return;
    for (const [sessionId, { lease, head, createdAt, leasedUntil }] of this.#waiting) {
      const { owner, epoch } = lease;
      const times = [createdAt, createdAt, leasedUntil];
      this.#sql.run(INSERT, sessionId, head.incarnation, owner, epoch, ...times);
    }
    this.#sql.run("UPDATE epochs SET last = ?", this.#lastEpoch);
  }

  /** Call after the transaction was committed. */
  clear(): void {
    this.#waiting.clear();
  }
}

const INSERT = `INSERT INTO sessions (id, incarnation, owner, epoch, created_at, updated_at, leased_until)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
