import { onTestFinished } from "vitest";

/** Counts something by turns of the event loop. */
export interface TickCounter {
  count(amount: number): void;
  /** How much it was at most in one turn. */
  maxPerTick(): number;
}

/** Until the test is over. */
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
