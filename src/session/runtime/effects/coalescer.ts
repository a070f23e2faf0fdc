import type { Timer } from "../../../async/invocation-guard.ts";

/**
 * Collects items and delivers them in batches, one batch at a time. Items added during a delivery form the next batch.
 */
export interface Coalescer<Item> {
  /** Adds an item. Resolves when there is room for the next item (backpressure). Rejects after a failed delivery. */
  add(item: Item, traits: ItemTraits): Promise<void>;
  /** Delivers all waiting items. */
  flush(): Promise<void>;
  /** Drops all waiting items and waits for the running delivery. */
  stop(): Promise<void>;
}

export interface ItemTraits {
  /** False for an urgent item. */
  readonly canWait: boolean;
  /** The size of the item. A batch is full at a total of 2^20. */
  readonly weight: number;
}

export interface CoalescerOptions<Item> {
  readonly timer: Timer;
  /** The longest time that an item may wait. 0 delivers every item alone. */
  readonly milliseconds: number;
  /** Merges two items into an equivalent single item. Undefined if the items cannot be merged. */
  readonly merge: (before: Item, item: Item) => Item | undefined;
  readonly deliver: (items: readonly Item[]) => Promise<void>;
}

/**
 * Creates a coalescer. The first item of a series is delivered at once and later items together after the delay. An
 * urgent item (`canWait` is false) is delivered at once, together with all waiting items.
 */
export function createCoalescer<Item>(options: CoalescerOptions<Item>): Coalescer<Item> {
  const { milliseconds, deliver } = options;
  const waiting = new WaitingItems(options.merge);
  const quietPeriod = new QuietPeriod(options.timer);
  let delivery: Promise<void> | undefined;
  let failure: { readonly error: unknown } | undefined;

  /**
   * Delivers batches until no items are due. There is no `await` between the last check and the end, so no item can
   * become due unnoticed in between.
   */
  const deliverAll = async (): Promise<void> => {
    try {
      while (waiting.hasDueItems) {
        const items = waiting.take();
        quietPeriod.end();
        if (milliseconds > 0 && waiting.canLastWait) quietPeriod.start(milliseconds, start);
        await deliver(items);
      }
    } catch (error) {
      // Later items must not overtake the lost batch. The next `add` or `flush` throws the error.
      failure = { error };
      quietPeriod.end();
    } finally {
      delivery = undefined;
    }
  };
  const start = (): void => {
    if (waiting.isEmpty || failure !== undefined) return;
    waiting.isDue = true;
    delivery ??= deliverAll();
  };
  const waitForDelivery = async (): Promise<void> => {
    await delivery;
    if (failure !== undefined) throw failure.error;
  };

  return {
    async add(item, traits) {
      if (failure !== undefined) throw failure.error;
      waiting.add(item, traits);
      if (waiting.isFull || !traits.canWait || !quietPeriod.isActive) start();
      // Backpressure: the next batch is full, or batching is disabled.
      if (waiting.isFull || milliseconds === 0) await waitForDelivery();
    },
    async flush() {
      start();
      await waitForDelivery();
      quietPeriod.end();
    },
    async stop() {
      waiting.take();
      quietPeriod.end();
      await delivery;
      quietPeriod.end();
    },
  };
}

/** The items of the next batch. */
class WaitingItems<Item> {
  readonly #merge: CoalescerOptions<Item>["merge"];
  #items: Item[] = [];
  #weight = 0;
  /** True if the waiting items must go with the next batch, without waiting for the timer. */
  isDue = false;
  /** Whether the last item added can wait. */
  canLastWait = false;

  constructor(merge: CoalescerOptions<Item>["merge"]) {
    this.#merge = merge;
  }

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  get isFull(): boolean {
    return this.#items.length >= MAX_WAITING || this.#weight >= MAX_WEIGHT;
  }

  get hasDueItems(): boolean {
    return this.isDue && this.#items.length > 0;
  }

  add(item: Item, { canWait, weight }: ItemTraits): void {
    const items = this.#items;
    const last = items.at(-1);
    const joined = last === undefined ? undefined : this.#merge(last, item);
    if (joined === undefined) items.push(item);
    else items[items.length - 1] = joined;
    this.#weight += weight;
    this.canLastWait = canWait;
  }

  /** Removes and returns all items. */
  take(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    this.#weight = 0;
    this.isDue = false;
    return items;
  }
}

/** The time after a delivery in which items that can wait are collected. */
class QuietPeriod {
  readonly #timer: Timer;
  #stopTimer: (() => void) | undefined;
  isActive = false;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  /** Calls `onElapsed` after the period, unless the period is ended earlier. */
  start(milliseconds: number, onElapsed: () => void): void {
    this.isActive = true;
    this.#stopTimer = this.#timer.schedule(milliseconds, () => {
      this.end();
      onElapsed();
    });
  }

  end(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.isActive = false;
  }
}

const MAX_WAITING = 256;
const MAX_WEIGHT = 1 << 20;
