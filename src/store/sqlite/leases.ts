import type { AcquireOptions, Acquired, ClaimOptions, Lease } from "../store.ts";
import { leaseHeld, staleLease, StoreError } from "../store-error.ts";
import type { EventKinds } from "./event-kinds.ts";
import { countEvents, findDue, findSession, makeSession, type Found } from "./session-rows.ts";
import type { Sql } from "./sql.ts";

/** Who may write to which session. Each method is a part of a transaction. */
export class Leases {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;

  constructor(sql: Sql, kinds: EventKinds) {
    this.#sql = sql;
    this.#kinds = kinds;
  }

  acquire(sessionId: string, options: AcquireOptions): Acquired {
    const { owner, now, forMs, takeOver = false } = options;
    makeSession(this.#sql, sessionId, now);
    const found = findSession(this.#sql, sessionId);
    if (found === undefined) throw new StoreError("store_failed", "A new session is not there");
    if (found.owner !== null && found.owner !== owner && found.leasedUntil > now && !takeOver) {
      throw leaseHeld(sessionId, found.owner, found.leasedUntil);
    }
    if (this.#holdsNewer(found)) {
      const message = `Session ${sessionId} in ${this.#sql.file} can only be read: it holds events of a newer version of Spanline. Fix: update Spanline`;
      throw new StoreError("store_newer", message, { details: { sessionId } });
    }
    this.#expectWhole(found);
    return this.#give(found, owner, now + forMs);
  }

  claimDue(now: number, { owner, forMs, limit }: ClaimOptions): readonly Acquired[] {
    return findDue(this.#sql, now, limit)
      .filter((found) => !this.#holdsNewer(found))
      .map((found) => this.#give(found, owner, now + forMs));
  }

  renew(lease: Lease, until: number): boolean {
    const found = findSession(this.#sql, lease.sessionId);
    if (found === undefined || !isHolder(lease, found)) return false;
    this.#sql.run("UPDATE sessions SET leased_until = ? WHERE key = ?", until, found.key);
    return true;
  }

  release(lease: Lease): void {
    const found = findSession(this.#sql, lease.sessionId);
    if (found === undefined || !isHolder(lease, found)) return;
    this.#sql.run("UPDATE sessions SET owner = NULL WHERE key = ?", found.key);
  }

  #give(found: Found, owner: string, until: number): Acquired {
    this.#sql.run("UPDATE epochs SET last = last + 1");
    const epoch = this.#sql.get("SELECT last FROM epochs")?.number("last") ?? 0;
    this.#sql.run(
      "UPDATE sessions SET owner = ?, epoch = ?, leased_until = ? WHERE key = ?",
      owner,
      epoch,
      until,
      found.key,
    );
    return {
      lease: { sessionId: found.sessionId, owner, epoch },
      head: found.head,
      abandoned: found.owner !== null,
    };
  }

  #expectWhole({ key, sessionId }: Found): void {
    const counts = countEvents(this.#sql, key);
    if (counts === undefined || counts.isWhole) return;
    const { seq, dropped, kept } = counts;
    const message = `Session ${sessionId} in ${this.#sql.file} can only be read: its log has ${kept} events and should have ${seq - dropped}. Fix: restore the file from a copy; \`spanline sessions check\` shows which events are missing`;
    throw new StoreError("store_damaged", message, { details: { sessionId } });
  }

  /** Only a file that a newer version wrote to is looked through. */
  #holdsNewer({ key }: Found): boolean {
    const { newer } = this.#kinds;
    if (newer.length === 0) return false;
    const some = `SELECT 1 FROM events WHERE session = ? AND kind IN (${newer.join(", ")}) LIMIT 1`;
    return this.#sql.get(some, key) !== undefined;
  }
}

function isHolder({ owner, epoch }: Lease, found: Found): boolean {
  return found.owner === owner && found.epoch === epoch;
}

/** The session that a lease is of, while it is the newest. */
export function heldSession(sql: Sql, lease: Lease): Found {
  const found = findSession(sql, lease.sessionId);
  if (found === undefined || !isHolder(lease, found)) throw staleLease(lease);
  return found;
}
