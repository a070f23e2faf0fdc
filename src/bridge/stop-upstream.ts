import { guardCall } from "../async/call-guard.ts";
import { untilAborted } from "../async/pause.ts";
import type { Clock } from "../platform/clock.ts";
import type { Provider } from "../providers/provider.ts";

/**
 * Ends what an agent may still be doing for somebody who has gone, and is paid for. It may be over already, or out of
 * reach: then it is left alone.
 */
export async function stopUpstream(
  upstreamId: string | undefined,
  provider: Provider,
  clock: Clock,
): Promise<void> {
  if (upstreamId === undefined) return;
  const guard = guardCall(clock, new AbortController().signal, STOPPING);
  const { signal } = guard;
  try {
    const stopping = provider.open({ sessionId: upstreamId }).stop?.({ signal });
    if (stopping !== undefined) await untilAborted(stopping, signal);
  } catch {
    // Nobody is left who could do something about it.
  } finally {
    guard.release();
  }
}

const STOPPING = { limit: "stop", milliseconds: 3000 } as const;
