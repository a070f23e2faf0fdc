import { ConnectionReset } from "../../service/service-types.ts";

/**
 * The bytes from a turn to its client, with a limited buffer. While the buffer is full, the turn waits, so a slow
 * client slows the turn down (backpressure). After the client has disconnected, all bytes are discarded and the turn
 * may continue. After an interruption the turn no longer waits: a client that stopped reading must not block its
 * session.
 */
export interface ClientStream {
  /** Resolves when the buffer has room, the client has disconnected or the turn is interrupted. */
  send(bytes: Uint8Array): Promise<void>;
  end(): void;
  /**
   * Resets the connection after all buffered bytes are sent. A bug as the reason is thrown to the reader of the body.
   */
  reset(bug?: unknown): void;
  /** Aborts when the client has disconnected. */
  readonly disconnectSignal: AbortSignal;
  /** Can be read once. Stopping early counts as a disconnect. */
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
  /** A set, because a turn and its keep-alive events may wait at the same time. */
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
