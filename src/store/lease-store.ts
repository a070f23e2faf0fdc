import type { Lease, LogHead } from "./log-store.ts";

/**
 * Leases decide which process may write to a session. A new lease invalidates every older lease of the same session
 * (fencing).
 *
 * ```ts
 * const { lease, head } = await store.acquire("ses_1", { owner: "node-1", now, durationMs: 30_000 });
 * await store.renew(lease, now + 10_000, 30_000);
 * await store.release(lease);
 * ```
 */
export interface LeaseStore {
  /**
   * Leases a session to `owner` for `durationMs`, and creates the session if needed. Throws `lease_held` if another
   * owner has an unexpired lease, unless `takeOver` is true. Throws `store_newer` if the log has events of a newer
   * version, and `store_damaged` if events are missing: such a session is read-only.
   */
  acquire(sessionId: string, options: AcquireOptions): Promise<AcquiredLease>;
  /** Extends a lease. False if the lease was released or the session has a newer lease. */
  renew(lease: Lease, now: number, durationMs: number): Promise<boolean>;
  /** Ends a lease. Releasing an old lease has no effect. */
  release(lease: Lease): Promise<void>;
  /** Leases sessions without a valid lease whose `wakeAt` has passed, the earliest first. */
  claimDue(now: number, options: ClaimOptions): Promise<readonly AcquiredLease[]>;
}

export interface AcquireOptions {
  readonly owner: string;
  readonly now: number;
  readonly durationMs: number;
  /** Default: false. */
  readonly takeOver?: boolean;
}

export interface AcquiredLease {
  readonly lease: Lease;
  readonly head: LogHead;
  /** True if the previous owner did not release its lease. */
  readonly wasAbandoned: boolean;
}

export interface ClaimOptions {
  readonly owner: string;
  readonly durationMs: number;
  readonly limit: number;
}
