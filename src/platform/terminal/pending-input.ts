import { systemClock } from "../clock.ts";
import type { InputStream } from "../process/command-io.ts";

/**
 * Drops everything typed on standard input so far, including an unfinished line. `onInterrupt` is called for a Ctrl-C
 * in the input, because in raw mode the terminal does not send a signal.
 */
export async function dropPendingInput(stdin: InputStream, onInterrupt: () => void): Promise<void> {
  let isQuiet = false;
  const drop = (chunk: Buffer | string): void => {
    isQuiet = false;
    if (chunk.toString().includes(CTRL_C)) onInterrupt();
  };
  // In its normal mode a terminal delivers a line only when the line is complete.
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
/** The total is longer than typed input takes to arrive, and too short to be noticed. */
const QUIET_MS = 25;
/**
 * A blocked process sees its timer fire before it reads the input received meanwhile. The input is read by the second
 * round.
 */
const QUIET_ROUNDS = 2;
/** A key held down must not delay the prompt forever. */
const MAX_ROUNDS = 40;
