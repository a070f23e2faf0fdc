import type { Timer } from "./invocation-guard.ts";

/** Gathers items and hands them on in batches, one batch at a time. What comes while one is handed on is the next. */
export interface Coalescer<Item> {
  /** Resolves when there is room for the next one. Rejects from when a batch could not be handed on. */
  add(item: Item): Promise<void>;
  /** Hands on what is left. */
  flush(): Promise<void>;
  /** Hands on no more than what it has begun to. */
  stop(): Promise<void>;
}

export interface CoalescerOptions<Item> {
  readonly timer: Timer;
  /** How long an item that can wait does wait, at most; 0 hands on every item by itself. */
  readonly milliseconds: number;
  readonly canWait: (item: Item) => boolean;
  /** The two as one, where that says the same. */
  readonly merge: (before: Item, item: Item) => Item | undefined;
  /** How much room an item takes. */
  readonly weigh: (item: Item) => number;
  readonly deliver: (items: readonly Item[]) => Promise<void>;
}

/** The first of a run of items that can wait goes at once, later ones together; one that cannot takes all along. */
export function createCoalescer<Item>(options: CoalescerOptions<Item>): Coalescer<Item> {
  const { timer, milliseconds, canWait, merge, weigh, deliver } = options;
  let waiting: Item[] = [];
  let waitingWeight = 0;
  /** What waits goes with the next batch, and need not wait for its time. */
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
  /** From the look that finds nothing due to the end there is no moment in which something could become it. */
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
      // Nothing may follow what is missing. Whoever adds next, or flushes, hears of it.
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
      // One batch is under way, and the next is full, or nothing is to be gathered at all.
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
