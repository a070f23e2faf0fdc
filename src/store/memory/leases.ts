import type { AcquiredLease, AcquireOptions, ClaimOptions } from "../lease-store.ts";
import type { Lease } from "../log-store.ts";
import { createLeaseHeldError, createStaleLeaseError } from "../store-error.ts";
import { MemorySession } from "./session-rows.ts";

/** Decides which owner may write to which session. */
export class Leases {
  readonly #sessions: Map<string, MemorySession>;
  #epoch = 0;

  constructor(sessions: Map<string, MemorySession>) {
    this.#sessions = sessions;
  }

  acquire(sessionId: string, options: AcquireOptions): AcquiredLease {
    const { owner, now, durationMs, takeOver = false } = options;
    const session = this.#sessions.get(sessionId) ?? new MemorySession(sessionId, now);
    const { holder } = session;
    if (isLeased(session, now) && holder !== undefined && holder.owner !== owner && !takeOver)
      throw createLeaseHeldError(sessionId, holder.owner, holder.until);
    this.#sessions.set(sessionId, session);
    return this.#grant(sessionId, session, owner, now + durationMs);
  }

  claimDue(now: number, { owner, durationMs, limit }: ClaimOptions): readonly AcquiredLease[] {
    return [...this.#sessions]
      .filter(([, { wakeAt }]) => wakeAt !== null && wakeAt <= now)
      .filter(([, session]) => !isLeased(session, now))
      .sort(([, left], [, right]) => (left.wakeAt ?? 0) - (right.wakeAt ?? 0))
      .slice(0, limit)
      .map(([sessionId, session]) => this.#grant(sessionId, session, owner, now + durationMs));
  }

  renew(lease: Lease, until: number): boolean {
    const session = this.#sessions.get(lease.sessionId);
    if (session?.holder === undefined || !isLeaseHolder(lease, session)) return false;
    session.holder = { ...session.holder, until };
    return true;
  }

  release(lease: Lease): void {
    const session = this.#sessions.get(lease.sessionId);
    if (session?.holder === undefined || !isLeaseHolder(lease, session)) return;
    session.holder = { ...session.holder, isReleased: true };
  }

  /** The session of a lease. Throws `stale_lease` if the lease is not its newest. */
  findLeasedSession(lease: Lease): MemorySession {
    const session = this.#sessions.get(lease.sessionId);
    if (session === undefined || !isLeaseHolder(lease, session)) throw createStaleLeaseError(lease);
    return session;
  }

  #grant(sessionId: string, session: MemorySession, owner: string, until: number): AcquiredLease {
    const wasAbandoned = session.holder?.isReleased === false;
    this.#epoch += 1;
    const epoch = this.#epoch;
    session.holder = { owner, epoch, until, isReleased: false };
    return { lease: { sessionId, owner, epoch }, head: session.head, wasAbandoned };
  }
}

function isLeaseHolder({ owner, epoch }: Lease, { holder }: MemorySession): boolean {
  return holder?.epoch === epoch && holder.owner === owner && !holder.isReleased;
}

export function isLeased({ holder }: MemorySession, now: number): boolean {
  return holder !== undefined && !holder.isReleased && holder.until > now;
}
