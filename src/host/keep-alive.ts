import type { Timer } from "../async/call-guard.ts";
import { pingRequest } from "../wire/acp/client/agent-requests.ts";
import type { Connection } from "./connection.ts";

export interface KeepAliveRules {
  /** Milliseconds between an answer and the next time that the agent is asked whether it is there. */
  readonly everyMs: number;
  /** How long it may take to answer. */
  readonly withinMs: number;
}

/**
 * Closes a connection whose other side is gone without a word: a machine that sleeps, a network that changed. Any answer will do,
 * also that there is no such method. Gives back how to stop.
 */
export function keepAlive(
  connection: Pick<Connection, "request" | "close">,
  timer: Timer,
  { everyMs, withinMs }: KeepAliveRules,
): () => void {
  let isStopped = false;
  let callOff = timer.after(everyMs, ask);

  function ask(): void {
    callOff = timer.after(withinMs, () => connection.close());
    connection
      .request(pingRequest())
      .catch(() => {})
      .finally(() => {
        callOff();
        if (!isStopped) callOff = timer.after(everyMs, ask);
      });
  }

  return () => {
    isStopped = true;
    callOff();
  };
}
