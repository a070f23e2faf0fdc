import type { BridgeOptions } from "./bridge-options.ts";
import { openBridge } from "./open-bridge.ts";

/**
 * Deletes a session where it is run, or here when nobody runs it; false when there was none. No agent is started for
 * that, so nothing that was left in the middle goes on.
 */
export async function deleteSession(
  sessionId: string,
  options: Omit<BridgeOptions, "agents" | "report">,
): Promise<boolean> {
  const bridge = openBridge({
    ...options,
    agents: async () => ({ agents: [], close: async () => {} }),
    // Sessions that cannot be taken up, for want of their agents.
    report() {},
  });
  try {
    return await bridge.sessions.delete(sessionId);
  } finally {
    await bridge.close();
  }
}
