import type { SteadyClock } from "../../../platform/clock.ts";

/**
 * Limits the message rate of a server: reading a message takes 70 µs, and an endless stream would starve the event
 * loop. Resolves when the next message may be read; undefined if immediately.
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
