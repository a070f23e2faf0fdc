import type { Timer } from "../../async/invocation-guard.ts";
import { encodePingRequest } from "../../wire/acp/client/agent-requests.ts";
import type { Connection } from "./agent-connection.ts";

export interface KeepAliveRules {
  /** Milliseconds between an answer and the next time that the agent is asked whether it is there. */
  readonly intervalMs: number;
  /** How long it may take to answer. */
  readonly timeoutMs: number;
}

/**
 * Closes a connection whose other side is gone without a word: a machine that sleeps, a network that changed. Any answer will do,
 * also that there is no such method. Gives back how to stop.
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
