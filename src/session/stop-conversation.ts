import { guardCall } from "../async/call-guard.ts";
import { untilAborted } from "../async/pause.ts";
import type { Clock } from "../platform/clock.ts";
import type { Provider } from "../providers/provider.ts";

export interface StopWork {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long the other side is waited for. */
  readonly milliseconds: number;
}

/** Ends what an agent may still be doing. It may be over already, or out of reach: then it is left alone. */
export async function stopConversation(
  upstreamId: string,
  { provider, clock, signal, milliseconds }: StopWork,
): Promise<void> {
  const guard = guardCall(clock, signal, { limit: "stop", milliseconds });
  try {
    const stopping = provider.open({ sessionId: upstreamId }).stop?.({ signal: guard.signal });
    if (stopping !== undefined) await untilAborted(stopping, guard.signal);
  } catch {
    // The next call will tell.
  } finally {
    guard.release();
  }
}
