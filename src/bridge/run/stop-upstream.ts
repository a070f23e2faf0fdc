import type { Clock } from "../../platform/clock.ts";
import type { Provider } from "../../providers/provider.ts";
import { stopConversation } from "../../session/runtime/effects/stop-conversation.ts";

/** Ends what an agent may still be doing for somebody who has gone, and is paid for. */
export async function stopUpstream(
  upstreamId: string | undefined,
  provider: Provider,
  clock: Clock,
): Promise<void> {
  if (upstreamId === undefined) return;
  const { signal } = new AbortController();
  await stopConversation(upstreamId, { provider, clock, signal, timeoutMs: STOP_TIMEOUT_MS });
}

const STOP_TIMEOUT_MS = 3000;
