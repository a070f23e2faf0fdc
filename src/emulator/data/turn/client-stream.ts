import { ConnectionReset } from "../../service/service-types.ts";

/**
 * Bytes from a turn to its client, with room for some: the turn waits while there is none, so a slow reader slows it
 * down. Once the client has left, everything is thrown away at once and the turn may go on without it. Once the turn is
 * cut short, it no longer waits: a client that has stopped reading must not hold its session.
 */
export interface ClientStream {
  /** Resolves when there is room again, nobody left to have room for, or the turn is cut short. */
  send(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** Ends with the connection, once what was sent is out. A bug that is the reason is told to whoever reads the body. */
  reset(bug?: unknown): void;
  /** Aborts when the client is not there any more. */
  readonly disconnectSignal: AbortSignal;
  /** Read once. Leaving it early is leaving. */
  readonly body: AsyncIterable<Uint8Array>;
}

export function createClientStream(
  disconnect: AbortSignal,
  interruptSignal?: AbortSignal,
): ClientStream {
  const disconnection = new AbortController();
  const buffer: Uint8Array[] = [];
  let bufferedBytes = 0;
  let endState: "no" | "whole" | "reset" = "no";
  let wakeReader: () => void = () => {};
  let resetError: unknown = new ConnectionReset("The session was stopped");
  /** A turn and its keep-alive events may wait at the same time. */
  const writers = new Set<() => void>();

  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      while (!disconnection.signal.aborted) {
        const chunk = buffer.shift();
        if (chunk !== undefined) {
          bufferedBytes -= chunk.length;
          wakeWriters();
          yield chunk;
        } else if (endState === "reset") throw resetError;
        else if (endState === "whole") return;
        else await new Promise<void>((resolve) => (wakeReader = resolve));
      }
    } finally {
      disconnectClient();
    }
  }

  function finish(result: "whole" | "reset"): void {
    endState = result;
    wakeReader();
  }

  function wakeWriters(): void {
    for (const wake of writers) wake();
    writers.clear();
  }

  function disconnectClient(): void {
    disconnect.removeEventListener("abort", disconnectClient);
    interruptSignal?.removeEventListener("abort", wakeWriters);
    disconnection.abort();
    buffer.length = 0;
    wakeReader();
    wakeWriters();
  }

  disconnect.addEventListener("abort", disconnectClient);
  interruptSignal?.addEventListener("abort", wakeWriters);
  if (disconnect.aborted) disconnectClient();
  const isFull = (): boolean =>
    bufferedBytes > MAX_BUFFERED_BYTES &&
    !disconnection.signal.aborted &&
    interruptSignal?.aborted !== true;
  return {
    async send(chunk) {
      if (disconnection.signal.aborted || chunk.length === 0) return;
      buffer.push(chunk);
      bufferedBytes += chunk.length;
      wakeReader();
      while (isFull()) {
        await new Promise<void>((resolve) => writers.add(resolve));
      }
    },
    end: () => finish("whole"),
    reset(bug) {
      if (bug !== undefined) resetError = bug;
      finish("reset");
    },
    disconnectSignal: disconnection.signal,
    body: body(),
  };
}

const MAX_BUFFERED_BYTES = 64 * 1024;
