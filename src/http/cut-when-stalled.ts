import type { Clock } from "../platform/clock.ts";
import { idleTimer } from "./idle-timer.ts";
import type { ServedAnswer } from "./served.ts";

/**
 * A system that has megabytes in its own buffers says so only when a good part of them was read: in this time, also a slow
 * reader has got there.
 */
export const STALLED_MS = 300_000;

export interface StallOptions {
  readonly clock: Clock;
  /** A client that takes nothing of what is there for it for so long is cut off. */
  readonly stalledMs?: number;
}

/**
 * An answer in pieces whose connection is cut when its client takes no piece for a while. Waiting for one is not stalling:
 * the time runs only while there is something to take.
 */
export function cutWhenStalled(
  pieces: AsyncIterable<Uint8Array>,
  { clock, stalledMs = STALLED_MS }: StallOptions,
): Pick<ServedAnswer, "body" | "cut"> {
  const stalled = new AbortController();
  async function* watched(): AsyncGenerator<Uint8Array> {
    const timer = idleTimer(clock, stalledMs, () => stalled.abort());
    try {
      for await (const piece of pieces) {
        timer.begin();
        yield piece;
        timer.end();
      }
    } finally {
      timer.stop();
    }
  }
  return { body: watched(), cut: stalled.signal };
}
