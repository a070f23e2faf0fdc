import type { Clock } from "../platform/clock.ts";
import { idleTimer } from "./idle-timer.ts";

export const QUIET = Symbol("quiet");

export interface HeartbeatOptions {
  readonly clock: Clock;
  readonly everyMs: number;
}

/**
 * What a source gives, and `QUIET` whenever it has given nothing for a while. The source is asked for more only when
 * its reader is; ending it is left to whoever opened it.
 */
export async function* withHeartbeats<Item>(
  source: AsyncIterator<Item>,
  { clock, everyMs }: HeartbeatOptions,
): AsyncGenerator<Item | typeof QUIET> {
  let tell: (quiet: typeof QUIET) => void = () => {};
  const timer = idleTimer(clock, everyMs, () => tell(QUIET));
  const orQuiet = (next: Promise<IteratorResult<Item>>) =>
    new Promise<IteratorResult<Item> | typeof QUIET>((resolve, reject) => {
      tell = resolve;
      timer.begin();
      next.then(resolve, reject);
    });
  try {
    for (;;) {
      const next = source.next();
      let result = await orQuiet(next);
      while (result === QUIET) {
        yield QUIET;
        result = await orQuiet(next);
      }
      timer.end();
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    timer.stop();
  }
}
