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
 * Sessions that are leased and not in the file yet: their rows go in with whatever is written next, which mostly is their
 * first entry. A session without an entry is one that nobody was told of, so nothing is lost with it.
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

  /** Its row as it will be without events. */
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
      createdAt,
      updatedAt: createdAt,
      seq: 0,
      wakeAt: null,
    };
  }

  /** Of a session that is neither here nor in the file. */
  acquire(sessionId: string, { owner, now, durationMs }: AcquireOptions): AcquiredLease {
    const lastEpoch = this.#sql.get("SELECT last FROM epochs")?.number("last") ?? 0;
    this.#lastEpoch = Math.max(this.#lastEpoch, lastEpoch) + 1;
    const lease = { sessionId, owner, epoch: this.#lastEpoch };
    const head = { incarnation: randomString(22), seq: 0, firstSeq: 1 };
    this.#waiting.set(sessionId, { lease, head, createdAt: now, leasedUntil: now + durationMs });
    return { lease, head, wasAbandoned: false };
  }

  /** Within a transaction, and before all else in it. */
  insertRows(): void {
    if (this.#waiting.size === 0) return;
    for (const [sessionId, { lease, head, createdAt, leasedUntil }] of this.#waiting) {
      const { owner, epoch } = lease;
      const times = [createdAt, createdAt, leasedUntil];
      this.#sql.run(INSERT, sessionId, head.incarnation, owner, epoch, ...times);
    }
    this.#sql.run("UPDATE epochs SET last = ?", this.#lastEpoch);
  }

  /** The transaction is in the file. */
  clear(): void {
    this.#waiting.clear();
  }
}

const INSERT = `INSERT INTO sessions (id, incarnation, owner, epoch, created_at, updated_at, leased_until)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
