import type { Clock } from "../platform/clock.ts";
import type { RetentionResult, RetentionRules, Store } from "../store/store.ts";

/** What may be deleted of itself. Without it, nothing ever is. */
export interface RetentionOptions {
  /** Sessions that nobody used for so many days are deleted. */
  readonly keepDays?: number;
  /** The most that the events of all sessions may have; those that nobody used for longest go first. */
  readonly keepMegabytes?: number;
  /** Told when something was deleted. */
  readonly onRemoved: (retained: RetentionResult) => void;
}

export interface RetentionContext {
  readonly store: Store;
  readonly clock: Clock;
  /** Has the leases of the sessions that are used here. */
  readonly owner: string;
  readonly report: (error: unknown) => void;
}

/** Applies it now, and then every hour. Resolves when it was applied once, with what ends it. */
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
      // What could not be deleted now can be in an hour.
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
