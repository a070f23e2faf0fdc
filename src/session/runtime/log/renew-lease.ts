import { SpanlineError } from "../../../domain/errors.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import type { Lease } from "../../../store/log-store.ts";
import type { LeaseStore } from "../../../store/lease-store.ts";
import { isTransientStoreError } from "./write-retry.ts";

export interface LeaseOptions {
  readonly store: LeaseStore;
  readonly lease: Lease;
  /** How long a lease holds that is not renewed. */
  readonly leaseMs: number;
  readonly clock: SteadyClock;
}

/** Renews a lease long before it runs out, until it is stopped or the lease is lost. */
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
      // A lease that ran out still counts while nobody has taken the session.
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
