import type { Timer } from "./call-guard.ts";

/** Gathers items and hands them on in batches, one batch at a time. */
export interface Coalescer<Item> {
  /** Resolves when there is room for the next one. Rejects from when a batch could not be handed on. */
  add(item: Item): Promise<void>;
  /** Hands on what is left. */
  flush(): Promise<void>;
}

export interface CoalescerOptions<Item> {
  readonly timer: Timer;
  /** How long an item that can wait does wait, at most; 0 hands on every item at once. */
  readonly milliseconds: number;
  readonly canWait: (item: Item) => boolean;
  /** The two as one, where that says the same. */
  readonly join: (before: Item, item: Item) => Item | undefined;
  readonly deliver: (items: readonly Item[]) => Promise<void>;
}

/** The first of a run of items that can wait goes at once, later ones together; one that cannot takes all along. */
export function coalescer<Item>(options: CoalescerOptions<Item>): Coalescer<Item> {
  const { timer, milliseconds, canWait, join, deliver } = options;
  let waiting: Item[] = [];
  let delivery: Promise<void> | undefined;
  let isQuiet = false;
  let stopTimer: (() => void) | undefined;
  let broken: { readonly error: unknown } | undefined;

  const deliverAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      const items = waiting;
      waiting = [];
      stopTimer?.();
      const last = items.at(-1);
      isQuiet = milliseconds > 0 && last !== undefined && canWait(last);
      stopTimer = isQuiet ? timer.after(milliseconds, whenDue) : undefined;
      await deliver(items).catch((error: unknown) => {
        // Nothing may follow what is missing.
        broken = { error };
        stopTimer?.();
        throw error;
      });
    }
  };
  const start = async (): Promise<void> => {
    if (broken !== undefined) throw broken.error;
    delivery ??= deliverAll().finally(() => {
      delivery = undefined;
    });
    await delivery;
  };
  const whenDue = (): void => {
    isQuiet = false;
    stopTimer = undefined;
    // Whoever adds next, or flushes, hears of its failure.
    if (waiting.length > 0) start().catch(() => undefined);
  };

  return {
    async add(item) {
      const last = waiting.at(-1);
      const joined = last === undefined ? undefined : join(last, item);
      if (joined === undefined) waiting.push(item);
      else waiting[waiting.length - 1] = joined;
      if (canWait(item) && isQuiet && waiting.length < MOST_WAITING) return;
      await start();
    },
    async flush() {
      await start();
      stopTimer?.();
      stopTimer = undefined;
    },
  };
}

const MOST_WAITING = 256;
