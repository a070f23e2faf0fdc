import type { AcquireOptions, AcquiredLease, ClaimOptions } from "../../lease-store.ts";
import type { Lease } from "../../log-store.ts";
import { createLeaseHeldError, createStaleLeaseError, StoreError } from "../../store-error.ts";
import type { EventKinds } from "../file/event-kinds.ts";
import {
  countEvents,
  findDueSessions,
  findSession,
  insertSession,
  type SessionRow,
} from "../file/session-rows.ts";
import type { Sql } from "../file/sql.ts";

/** Decides which owner may write to a session. Each method must be called within a transaction. */
export class Leases {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;

  constructor(sql: Sql, kinds: EventKinds) {
    this.#sql = sql;
    this.#kinds = kinds;
  }

  acquire(sessionId: string, options: AcquireOptions): AcquiredLease {
    const { owner, now, durationMs, takeOver = false } = options;
    insertSession(this.#sql, sessionId, now);
    const session = findSession(this.#sql, sessionId);
    if (session === undefined)
      throw new StoreError("store_failed", "The session could not be created");
    if (
      session.owner !== null &&
      session.owner !== owner &&
      session.leasedUntil > now &&
      !takeOver
    ) {
      throw createLeaseHeldError(sessionId, session.owner, session.leasedUntil);
    }
    if (this.#holdsNewer(session)) {
      const message = `Session ${sessionId} in ${this.#sql.file} is read-only: its log has events of a newer version of Spanline. Fix: update Spanline`;
      throw new StoreError("store_newer", message, { details: { sessionId } });
    }
    this.#expectWhole(session);
    return this.#give(session, owner, now + durationMs);
  }

  claimDue(
    now: number,
    { owner, durationMs: forMs, limit }: ClaimOptions,
  ): readonly AcquiredLease[] {
    return findDueSessions(this.#sql, now, limit)
      .filter((session) => !this.#holdsNewer(session))
      .map((session) => this.#give(session, owner, now + forMs));
  }

  renew(lease: Lease, until: number): boolean {
    const session = findSession(this.#sql, lease.sessionId);
    if (session === undefined || !isLeaseHolder(lease, session)) return false;
    this.#sql.run("UPDATE sessions SET leased_until = ? WHERE key = ?", until, session.key);
    return true;
  }

  release(lease: Lease): void {
    const session = findSession(this.#sql, lease.sessionId);
    if (session === undefined || !isLeaseHolder(lease, session)) return;
    this.#sql.run("UPDATE sessions SET owner = NULL WHERE key = ?", session.key);
  }

  #give(session: SessionRow, owner: string, until: number): AcquiredLease {
    this.#sql.run("UPDATE epochs SET last = last + 1");
    const epoch = this.#sql.get("SELECT last FROM epochs")?.number("last") ?? 0;
    this.#sql.run(
      "UPDATE sessions SET owner = ?, epoch = ?, leased_until = ? WHERE key = ?",
      owner,
      epoch,
      until,
      session.key,
    );
    return {
      lease: { sessionId: session.sessionId, owner, epoch },
      head: session.head,
      wasAbandoned: session.owner !== null,
    };
  }

  #expectWhole({ key, sessionId }: SessionRow): void {
    const counts = countEvents(this.#sql, key);
    if (counts === undefined || counts.isComplete) return;
    const { seq, dropped, stored } = counts;
    const message = `Session ${sessionId} in ${this.#sql.file} is read-only: its log has ${stored} events and should have ${seq - dropped}. Fix: restore the file from a copy; \`spanline sessions check\` shows which events are missing`;
    throw new StoreError("store_damaged", message, { details: { sessionId } });
  }

  /** True if the session has events of a newer version. Only a file with newer kinds is searched. */
  #holdsNewer({ key }: SessionRow): boolean {
    const { newer } = this.#kinds;
    if (newer.length === 0) return false;
    const some = `SELECT 1 FROM events WHERE session = ? AND kind IN (${newer.join(", ")}) LIMIT 1`;
    return this.#sql.get(some, key) !== undefined;
  }
}

function isLeaseHolder({ owner, epoch }: Lease, session: SessionRow): boolean {
  return session.owner === owner && session.epoch === epoch;
}

/** The session of a lease. Throws `stale_lease` if the lease is not the newest of its session. */
export function findLeasedSession(sql: Sql, lease: Lease): SessionRow {
  const session = findSession(sql, lease.sessionId);
  if (session === undefined || !isLeaseHolder(lease, session)) throw createStaleLeaseError(lease);
  return session;
}
