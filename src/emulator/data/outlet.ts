import { ConnectionReset } from "../exchange.ts";

/**
 * Bytes from a turn to its client, with room for some: the turn waits while there is none, so a slow reader slows it
 * down. Once the client has left, everything is thrown away at once and the turn may go on without it.
 */
export interface Outlet {
  /** Resolves when there is room again, or nobody left to have room for. */
  send(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** Ends with the connection, once what was sent is out. */
  reset(): void;
  /** Aborts when the client is not there any more. */
  readonly left: AbortSignal;
  /** Read once. Leaving it early is leaving. */
  readonly body: AsyncIterable<Uint8Array>;
}

export function outlet(gone: AbortSignal): Outlet {
  const leaving = new AbortController();
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let ended: "no" | "whole" | "reset" = "no";
  let wakeReader: () => void = () => {};
  let wakeWriter: () => void = () => {};

  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      while (!leaving.signal.aborted) {
        const chunk = waiting.shift();
        if (chunk !== undefined) {
          bytes -= chunk.length;
          wakeWriter();
          yield chunk;
        } else if (ended === "reset") throw new ConnectionReset("The session was stopped");
        else if (ended === "whole") return;
        else await new Promise<void>((resolve) => (wakeReader = resolve));
      }
    } finally {
      leave();
    }
  }

  function finish(how: "whole" | "reset"): void {
    ended = how;
    wakeReader();
  }

  function leave(): void {
    gone.removeEventListener("abort", leave);
    leaving.abort();
    waiting.length = 0;
    wakeReader();
    wakeWriter();
  }

  gone.addEventListener("abort", leave);
  if (gone.aborted) leave();
  const isFull = (): boolean => bytes > ROOM && !leaving.signal.aborted;
  return {
    async send(chunk) {
      if (leaving.signal.aborted || chunk.length === 0) return;
      waiting.push(chunk);
      bytes += chunk.length;
      wakeReader();
      while (isFull()) {
        await new Promise<void>((resolve) => (wakeWriter = resolve));
      }
    },
    end: () => finish("whole"),
    reset: () => finish("reset"),
    left: leaving.signal,
    body: body(),
  };
}

const ROOM = 64 * 1024;
