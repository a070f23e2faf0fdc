import type { Clock } from "../platform/clock.ts";
import type { RetentionResult, RetentionRules, Store } from "../store/store.ts";

/** Settings for the automatic deletion of old data. Default: all data is kept. */
export interface RetentionOptions {
  /** Days. Sessions unused for longer are deleted. */
  readonly keepDays?: number;
  /** Limit for the events of all sessions, in megabytes. Sessions unused for the longest time are deleted first. */
  readonly keepMegabytes?: number;
  /** Called after a deletion. */
  readonly onRemoved: (retained: RetentionResult) => void;
}

export interface RetentionContext {
  readonly store: Store;
  readonly clock: Clock;
  /** The holder of the leases of sessions in use by this process. */
  readonly owner: string;
  readonly report: (error: unknown) => void;
}

/** Applies the retention now and then every hour. Resolves after the first run with a function to stop. */
export async function applyRetention(
  { keepDays, keepMegabytes, onRemoved }: RetentionOptions,
  { store, clock, owner, report }: RetentionContext,
): Promise<() => Promise<void>> {
  let isStopped = false;
  let stopTimer = (): void => undefined;
  let running = Promise.resolve();

  const rules = (): RetentionRules => {
    const now = clock.now();
    return {
      now,
      owner,
      ...(keepDays !== undefined && { inactiveSince: now - keepDays * DAY_MS }),
      ...(keepMegabytes !== undefined && { maxBytes: keepMegabytes * 1_000_000 }),
    };
  };
  const apply = async (): Promise<void> => {
    try {
      const retained = await store.applyRetention(rules());
      if (retained.deletedSessions + retained.droppedEvents > 0) onRemoved(retained);
    } catch (error) {
      // A failed deletion is retried in an hour.
      report(error);
    }
    if (!isStopped) stopTimer = clock.schedule(HOUR_MS, () => void (running = apply()));
  };

  await apply();
  return async () => {
    isStopped = true;
    stopTimer();
    await running;
  };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
