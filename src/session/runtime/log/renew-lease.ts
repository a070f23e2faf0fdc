import { SpanlineError } from "../../../domain/errors.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { Lease } from "../../../store/log-store.ts";
import type { LeaseStore } from "../../../store/lease-store.ts";
import { isTransientStoreError } from "./write-retry.ts";

export interface LeaseOptions {
  readonly store: LeaseStore;
  readonly lease: Lease;
  /** Milliseconds until an unrenewed lease expires. */
  readonly leaseMs: number;
  readonly clock: SteadyClock;
}

/** Renews a lease well before its expiry, until stopped or lost. */
export function renewLease(options: LeaseOptions, onLost: (error: unknown) => void): () => void {
  const { store, lease, leaseMs, clock } = options;
  let isStopped = false;
  let stopTimer = (): void => undefined;
  const renew = async (): Promise<void> => {
    try {
      const isOurs = await store.renew(lease, clock.now(), leaseMs);
      if (isStopped) return;
      if (isOurs) renewLater();
      else onLost(createStaleLeaseError(lease.sessionId));
    } catch (error) {
      if (isStopped) return;
      // An expired lease stays valid until another process acquires the session.
      if (isTransientStoreError(error)) renewLater(leaseMs / 10);
      else onLost(error);
    }
  };
  const renewLater = (delayMs = leaseMs / 2): void => {
    stopTimer = clock.schedule(delayMs, () => void renew());
  };
  renewLater();
  return () => {
    isStopped = true;
    stopTimer();
  };
}

function createStaleLeaseError(sessionId: string): SpanlineError {
  return new SpanlineError("stale_lease", `Another process has the session ${sessionId}`);
}
