import { randomText } from "../../platform/random.ts";
import type { AcquireOptions, Acquired, Head, Lease, SessionRecord } from "../store.ts";
import type { Sql } from "./sql.ts";

interface NewSession {
  readonly lease: Lease;
  readonly head: Head;
  readonly createdAt: number;
  readonly leasedUntil: number;
}

/**
 * Sessions that are leased and not in the file yet: their rows go in with whatever is written next, which mostly is their
 * first entry. A session without an entry is one that nobody was told of, so nothing is lost with it.
 */
export class NewSessions {
  readonly #sql: Sql;
  readonly #waiting = new Map<string, NewSession>();
  #lastEpoch = 0;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  has(sessionId: string): boolean {
    return this.#waiting.has(sessionId);
  }

  head(sessionId: string): Head | undefined {
    return this.#waiting.get(sessionId)?.head;
  }

  /** Its row as it will be without events. */
  record(sessionId: string): SessionRecord | undefined {
    const found = this.#waiting.get(sessionId);
    if (found === undefined) return undefined;
    const { head, createdAt } = found;
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
  lease(sessionId: string, { owner, now, forMs }: AcquireOptions): Acquired {
    const given = this.#sql.get("SELECT last FROM epochs")?.number("last") ?? 0;
    this.#lastEpoch = Math.max(this.#lastEpoch, given) + 1;
    const lease = { sessionId, owner, epoch: this.#lastEpoch };
    const head = { incarnation: randomText(22), seq: 0, firstSeq: 1 };
    this.#waiting.set(sessionId, { lease, head, createdAt: now, leasedUntil: now + forMs });
    return { lease, head, abandoned: false };
  }

  /** Within a transaction, and before all else in it. */
  write(): void {
    if (this.#waiting.size === 0) return;
    for (const [sessionId, { lease, head, createdAt, leasedUntil }] of this.#waiting) {
      const { owner, epoch } = lease;
      const times = [createdAt, createdAt, leasedUntil];
      this.#sql.run(INSERT, sessionId, head.incarnation, owner, epoch, ...times);
    }
    this.#sql.run("UPDATE epochs SET last = ?", this.#lastEpoch);
  }

  /** The transaction is in the file. */
  written(): void {
    this.#waiting.clear();
  }
}

const INSERT = `INSERT INTO sessions (id, incarnation, owner, epoch, created_at, updated_at, leased_until)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
