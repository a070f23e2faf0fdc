import { systemClock } from "../clock.ts";
import type { InputStream } from "../process/command-io.ts";

/**
 * Throws away what was typed so far on standard input, also the beginning of a line. `interrupted` hears of a Ctrl-C in it,
 * which the terminal does not make a signal of meanwhile.
 */
export async function dropPendingInput(stdin: InputStream, onInterrupt: () => void): Promise<void> {
  let isQuiet = false;
  const drop = (chunk: Buffer | string): void => {
    isQuiet = false;
    if (chunk.toString().includes(CTRL_C)) onInterrupt();
  };
  // In its usual mode a terminal keeps a line to itself until it is ended.
  stdin.setRawMode?.(true);
  stdin.on("data", drop);
  for (let round = 0, quiet = 0; quiet < QUIET_ROUNDS && round < MAX_ROUNDS; round += 1) {
    isQuiet = true;
    await new Promise<void>((resolve) => void systemClock.schedule(QUIET_MS, resolve));
    quiet = isQuiet ? quiet + 1 : 0;
  }
  stdin.off("data", drop);
  stdin.pause();
}

const CTRL_C = "\u0003";
/** Together longer than what was typed takes to arrive, shorter than anybody waits. */
const QUIET_MS = 25;
/** A process that was held up sees that the time is over before it looks at what came meanwhile. It has looked by the next time. */
const QUIET_ROUNDS = 2;
/** A key that is held down must not keep the question away. */
const MAX_ROUNDS = 40;
