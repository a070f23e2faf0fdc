import { ConnectionReset } from "../exchange.ts";

/**
 * Bytes from a turn to its client, with room for some: the turn waits while there is none, so a slow reader slows it
 * down. Once the client has left, everything is thrown away at once and the turn may go on without it. Once the turn is
 * cut short, it no longer waits: a client that has stopped reading must not hold its session.
 */
export interface Outlet {
  /** Resolves when there is room again, nobody left to have room for, or the turn is cut short. */
  send(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** Ends with the connection, once what was sent is out. A bug that is the reason is told to whoever reads the body. */
  reset(bug?: unknown): void;
  /** Aborts when the client is not there any more. */
  readonly left: AbortSignal;
  /** Read once. Leaving it early is leaving. */
  readonly body: AsyncIterable<Uint8Array>;
}

export function outlet(gone: AbortSignal, cut?: AbortSignal): Outlet {
  const leaving = new AbortController();
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let ended: "no" | "whole" | "reset" = "no";
  let wakeReader: () => void = () => {};
  let resetBy: unknown = new ConnectionReset("The session was stopped");
  /** A turn and its keep-alive events may wait at the same time. */
  const writers = new Set<() => void>();

  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      while (!leaving.signal.aborted) {
        const chunk = waiting.shift();
        if (chunk !== undefined) {
          bytes -= chunk.length;
          wakeWriters();
          yield chunk;
        } else if (ended === "reset") throw resetBy;
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

  function wakeWriters(): void {
    for (const wake of writers) wake();
    writers.clear();
  }

  function leave(): void {
    gone.removeEventListener("abort", leave);
    cut?.removeEventListener("abort", wakeWriters);
    leaving.abort();
    waiting.length = 0;
    wakeReader();
    wakeWriters();
  }

  gone.addEventListener("abort", leave);
  cut?.addEventListener("abort", wakeWriters);
  if (gone.aborted) leave();
  const isFull = (): boolean => bytes > ROOM && !leaving.signal.aborted && cut?.aborted !== true;
  return {
    async send(chunk) {
      if (leaving.signal.aborted || chunk.length === 0) return;
      waiting.push(chunk);
      bytes += chunk.length;
      wakeReader();
      while (isFull()) {
        await new Promise<void>((resolve) => writers.add(resolve));
      }
    },
    end: () => finish("whole"),
    reset(bug) {
      if (bug !== undefined) resetBy = bug;
      finish("reset");
    },
    left: leaving.signal,
    body: body(),
  };
}

const ROOM = 64 * 1024;
