import { guardInvocation } from "../../../async/invocation-guard.ts";
import { waitUnlessAborted } from "../../../async/pause.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Provider } from "../../../providers/provider.ts";

export interface StopOptions {
  readonly provider: Provider;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Milliseconds to wait for the provider. */
  readonly timeoutMs: number;
}

/** Stops the work of an upstream session. Errors are ignored: it may have ended, or be unreachable. */
export async function stopConversation(
  upstreamId: string,
  { provider, clock, signal, timeoutMs }: StopOptions,
): Promise<void> {
  const guard = guardInvocation(clock, signal, { limit: "stop", milliseconds: timeoutMs });
  try {
    const stopping = provider.open({ sessionId: upstreamId }).stop?.({ signal: guard.signal });
    if (stopping !== undefined) await waitUnlessAborted(stopping, guard.signal);
  } catch {
    // The next invocation reports the problem.
  } finally {
    guard.release();
  }
}
