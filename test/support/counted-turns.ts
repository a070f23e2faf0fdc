import { onTestFinished } from "vitest";

/** Counts something by turns of the event loop. */
export interface CountedTurns {
  count(amount: number): void;
  /** How much it was at most in one turn. */
  most(): number;
}

/** Until the test is over. */
export function countedTurns(): CountedTurns {
  let now = 0;
  let most = 0;
  let isOver = false;
  const turn = (): void => {
    now = 0;
    if (!isOver) setImmediate(turn);
  };
  onTestFinished(() => void (isOver = true));
  turn();
  return {
    count(amount) {
      now += amount;
      most = Math.max(most, now);
    },
    most: () => most,
  };
}
