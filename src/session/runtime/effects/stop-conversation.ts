import { guardInvocation } from "../../../async/invocation-guard.ts";
import { waitUnlessAborted } from "../../../async/pause.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Provider } from "../../../providers/provider.ts";

export interface StopOptions {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long the other side is waited for. */
  readonly timeoutMs: number;
}

/** Ends what an agent may still be doing. It may be over already, or out of reach: then it is left alone. */
export async function stopConversation(
  upstreamId: string,
  { provider, clock, signal, timeoutMs }: StopOptions,
): Promise<void> {
  const guard = guardInvocation(clock, signal, { limit: "stop", milliseconds: timeoutMs });
  try {
    const stopping = provider.open({ sessionId: upstreamId }).stop?.({ signal: guard.signal });
    if (stopping !== undefined) await waitUnlessAborted(stopping, guard.signal);
  } catch {
    // The next call will tell.
  } finally {
    guard.release();
  }
}
