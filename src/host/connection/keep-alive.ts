import type { Timer } from "../../async/invocation-guard.ts";
import { encodePingRequest } from "../../wire/acp/client/agent-requests.ts";
import type { Connection } from "./agent-connection.ts";

export interface KeepAliveRules {
  /** Milliseconds from a response to the next ping. */
  readonly intervalMs: number;
  /** Milliseconds to wait for the response to a ping. */
  readonly timeoutMs: number;
}

/**
 * Pings the agent and closes the connection if the ping times out, for example because a machine sleeps or a network
 * changed. Any response counts, also "method not found". Returns a function to stop.
 */
export function startKeepAlive(
  connection: Pick<Connection, "request" | "close">,
  timer: Timer,
  { intervalMs, timeoutMs }: KeepAliveRules,
): () => void {
  let isStopped = false;
  let callOff = timer.schedule(intervalMs, ping);

  function ping(): void {
    callOff = timer.schedule(timeoutMs, () => connection.close());
    connection
      .request(encodePingRequest())
      .catch(() => {})
      .finally(() => {
        callOff();
        if (!isStopped) callOff = timer.schedule(intervalMs, ping);
      });
  }

  return () => {
    isStopped = true;
    callOff();
  };
}
