import type { Clock } from "../../platform/clock.ts";
import type { AcpConnection } from "./acp-connection.ts";
import type { LineWriter } from "./line-writer.ts";

/** The client is gone, or says nothing more: what it asked is dealt with, it is detached, and what is left is written. */
export async function leaveInTime(
  connection: Pick<AcpConnection, "idle" | "leave">,
  writer: Pick<LineWriter, "below">,
  clock: Clock,
): Promise<void> {
  await within(clock, CLOSING_MS, connection.idle());
  await within(clock, CLOSING_MS, connection.leave("client_exit"));
  await within(clock, CLOSING_MS, writer.below(0));
}

/** Waits, but not for ever: a reader that has stopped reading must not keep this process. */
async function within(clock: Clock, milliseconds: number, done: Promise<void>): Promise<void> {
  let callOff = (): void => {};
  const late = new Promise<void>((resolve) => {
    callOff = clock.after(milliseconds, resolve);
  });
  await Promise.race([done, late]);
  callOff();
}

const CLOSING_MS = 1000;
