import type { Clock } from "../../platform/clock.ts";
import type { Provider } from "../../providers/provider.ts";
import { stopConversation } from "../../session/runtime/effects/stop-conversation.ts";

/** Stops the agent's remaining work after an abort, since it would still cost money. Gives up after 3 seconds. */
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
