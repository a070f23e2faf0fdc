import { onTestFinished } from "vitest";

/** Counts an amount per tick of the event loop. */
export interface TickCounter {
  count(amount: number): void;
  /** The largest amount in a single tick. */
  maxPerTick(): number;
}

/** Counts until the test has finished. */
export function createTickCounter(): TickCounter {
  let amountInTick = 0;
  let maxAmount = 0;
  let isOver = false;
  const resetAtTick = (): void => {
    amountInTick = 0;
    if (!isOver) setImmediate(resetAtTick);
  };
  onTestFinished(() => void (isOver = true));
  resetAtTick();
  return {
    count(amount) {
      amountInTick += amount;
      maxAmount = Math.max(maxAmount, amountInTick);
    },
    maxPerTick: () => maxAmount,
  };
}
