import type { Clock } from "../../platform/clock.ts";

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
  options: HeartbeatOptions,
): AsyncGenerator<Item | typeof QUIET> {
  for (;;) {
    const next = source.next();
    let result = await orQuiet(next, options);
    while (result === QUIET) {
      yield QUIET;
      result = await orQuiet(next, options);
    }
    if (result.done === true) return;
    yield result.value;
  }
}

function orQuiet<Value>(
  work: Promise<Value>,
  { clock, everyMs }: HeartbeatOptions,
): Promise<Value | typeof QUIET> {
  return new Promise((resolve, reject) => {
    const callOff = clock.after(everyMs, () => resolve(QUIET));
    void work.then(resolve, reject).finally(callOff);
  });
}
