import { waitWithTimeout } from "../../../async/pause.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { AcpConnection } from "./acp-connection.ts";
import type { LineWriter } from "./line-writer.ts";

/**
 * Disconnects a client after the end of its input: finishes its requests, detaches the client from its sessions and
 * writes the queued output. Each step has a timeout, because a client that stopped reading must not keep this process
 * alive.
 */
export async function disconnectGracefully(
  connection: Pick<AcpConnection, "waitForIdle" | "disconnect">,
  writer: Pick<LineWriter, "waitUntilBelow">,
  clock: Clock,
): Promise<void> {
  await waitWithTimeout(clock, STEP_TIMEOUT_MS, connection.waitForIdle());
  await waitWithTimeout(clock, STEP_TIMEOUT_MS, connection.disconnect("client_exit"));
  await waitWithTimeout(clock, STEP_TIMEOUT_MS, writer.waitUntilBelow(0));
}

const STEP_TIMEOUT_MS = 1000;
