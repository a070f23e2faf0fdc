import type { ServedAnswer } from "../../http/served.ts";
import type { PortalOptions } from "./portal-options.ts";

/**
 * A system that has megabytes in its own buffers says so only when a good part of them was read: in this time, also a slow
 * reader has got there.
 */
const DEFAULT_STALLED_MS = 300_000;

/**
 * An answer in pieces whose connection is cut when its client takes no piece for a while. Waiting for one is not stalling:
 * the time runs only while there is something to take.
 */
export function cutWhenStalled(
  pieces: AsyncIterable<Uint8Array>,
  { clock, stalledMs = DEFAULT_STALLED_MS }: Pick<PortalOptions, "clock" | "stalledMs">,
): Pick<ServedAnswer, "body" | "cut"> {
  const stalled = new AbortController();
  async function* watched(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      const callOff = clock.after(stalledMs, () => stalled.abort());
      try {
        yield piece;
      } finally {
        callOff();
      }
    }
  }
  return { body: watched(), cut: stalled.signal };
}
