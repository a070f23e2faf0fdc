import { orLate } from "../../async/pause.ts";
import type { Clock } from "../../platform/clock.ts";
import type { AcpConnection } from "./acp-connection.ts";
import type { LineWriter } from "./line-writer.ts";

/**
 * The client is gone, or says nothing more: what it asked is dealt with, it is detached, and what is left is written. None of
 * it is waited for without end: a reader that has stopped reading must not keep this process.
 */
export async function leaveInTime(
  connection: Pick<AcpConnection, "idle" | "leave">,
  writer: Pick<LineWriter, "below">,
  clock: Clock,
): Promise<void> {
  await orLate(clock, CLOSING_MS, connection.idle());
  await orLate(clock, CLOSING_MS, connection.leave("client_exit"));
  await orLate(clock, CLOSING_MS, writer.below(0));
}

const CLOSING_MS = 1000;
