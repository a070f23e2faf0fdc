import type { SteadyClock } from "../../../platform/clock.ts";

/**
 * How fast a server may talk: reading one message takes 70 µs, and one that never stops would leave us no time for anything
 * else. Resolves when the next may be read; undefined when that is now.
 */
export type MessagePace = (messages: number) => Promise<void> | undefined;

export function createMessagePace(clock: SteadyClock): MessagePace {
  let since = clock.monotonic();
  let count = 0;
  return (messages) => {
    const now = clock.monotonic();
    if (now - since >= WINDOW_MS) {
      since = now;
      count = 0;
    }
    count += messages;
    if (count <= MAX_PER_WINDOW) return undefined;
    return new Promise((resolve) => {
      clock.schedule(WINDOW_MS, resolve);
    });
  };
}

const WINDOW_MS = 100;
const MAX_PER_WINDOW = 500;
