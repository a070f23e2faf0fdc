import { serveAcp } from "../../surfaces/acp/connection/serve-acp.ts";
import type { ServeAcpOptions } from "../../surfaces/acp/connection/serve-acp.ts";
import { localPrincipal } from "../local-principal.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import { openBridge } from "../open-bridge.ts";

export interface AcpOptions
  extends
    BridgeOptions,
    Pick<
      ServeAcpOptions,
      "input" | "output" | "session" | "updates" | "log" | "detail" | "signal"
    > {}

/** Serves one editor over a pair of streams until the editor disconnects. */
export async function runAcp(options: AcpOptions): Promise<void> {
  const bridge = openBridge(options);
  try {
    await serveAcp({ ...options, sessions: bridge.sessions, principal: localPrincipal });
  } finally {
    await bridge.close();
  }
}
