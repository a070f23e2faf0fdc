import type { Timer } from "./invocation-guard.ts";

/**
 * Collects items and delivers them in batches, one batch at a time. Items added during a delivery form the next batch.
 */
export interface Coalescer<Item> {
  /** Adds an item. Resolves when there is room for the next item (backpressure). Rejects after a failed delivery. */
  add(item: Item): Promise<void>;
  /** Delivers all waiting items. */
  flush(): Promise<void>;
  /** Drops all waiting items and waits for the running delivery. */
  stop(): Promise<void>;
}

export interface CoalescerOptions<Item> {
  readonly timer: Timer;
  /** The longest time that an item may wait. 0 delivers every item alone. */
  readonly milliseconds: number;
  readonly canWait: (item: Item) => boolean;
  /** Merges two items into an equivalent single item. Undefined if the items cannot be merged. */
  readonly merge: (before: Item, item: Item) => Item | undefined;
  /** The size of an item. A batch is full at a total of 2^20. */
  readonly weigh: (item: Item) => number;
  readonly deliver: (items: readonly Item[]) => Promise<void>;
}

/**
 * Creates a coalescer. The first item of a series is delivered at once and later items together after the delay. An
 * urgent item (`canWait` is false) is delivered at once, together with all waiting items.
 */
export function createCoalescer<Item>(options: CoalescerOptions<Item>): Coalescer<Item> {
  const { timer, milliseconds, canWait, merge, weigh, deliver } = options;
  let waiting: Item[] = [];
  let waitingWeight = 0;
  /** True if the waiting items must go with the next batch, without waiting for the timer. */
  let isDue = false;
  let delivery: Promise<void> | undefined;
  let isQuiet = false;
  let stopTimer: (() => void) | undefined;
  let failure: { readonly error: unknown } | undefined;

  const isFull = (): boolean => waiting.length >= MAX_WAITING || waitingWeight >= MAX_WEIGHT;
  const hasDueItems = (): boolean => isDue && waiting.length > 0;
  const endQuietPeriod = (): void => {
    stopTimer?.();
    stopTimer = undefined;
    isQuiet = false;
  };
  const takeWaiting = (): readonly Item[] => {
    const items = waiting;
    waiting = [];
    waitingWeight = 0;
    isDue = false;
    return items;
  };
  /**
   * Delivers batches until no items are due. There is no `await` between the last check and the end, so no item can
   * become due unnoticed in between.
   */
  const deliverAll = async (): Promise<void> => {
    try {
      while (hasDueItems()) {
        const items = takeWaiting();
        endQuietPeriod();
        const last = items.at(-1);
        if (milliseconds > 0 && last !== undefined && canWait(last)) {
          isQuiet = true;
          stopTimer = timer.schedule(milliseconds, startDelivery);
        }
        await deliver(items);
      }
    } catch (error) {
      // Later items must not overtake the lost batch. The next `add` or `flush` throws the error.
      failure = { error };
      endQuietPeriod();
    } finally {
      delivery = undefined;
    }
  };
  const start = (): void => {
    if (waiting.length === 0 || failure !== undefined) return;
    isDue = true;
    delivery ??= deliverAll();
  };
  const startDelivery = (): void => {
    endQuietPeriod();
    start();
  };
  const waitForDelivery = async (): Promise<void> => {
    await delivery;
    if (failure !== undefined) throw failure.error;
  };

  return {
    async add(item) {
      if (failure !== undefined) throw failure.error;
      const last = waiting.at(-1);
      const joined = last === undefined ? undefined : merge(last, item);
      if (joined === undefined) waiting.push(item);
      else waiting[waiting.length - 1] = joined;
      waitingWeight += weigh(item);
      if (!canWait(item) || !isQuiet || isFull()) start();
      // Backpressure: the next batch is full, or batching is disabled.
      if (isFull() || milliseconds === 0) await waitForDelivery();
    },
    async flush() {
      start();
      await waitForDelivery();
      endQuietPeriod();
    },
    async stop() {
      takeWaiting();
      endQuietPeriod();
      await delivery;
      endQuietPeriod();
    },
  };
}

const MAX_WAITING = 256;
const MAX_WEIGHT = 1 << 20;
