import { waitWithTimeout } from "../../../async/pause.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { AcpConnection } from "./acp-connection.ts";
import type { LineWriter } from "./line-writer.ts";

/**
 * The client is gone, or says nothing more: what it asked is dealt with, it is detached, and what is left is written. None of
 * it is waited for without end: a reader that has stopped reading must not keep this process.
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
