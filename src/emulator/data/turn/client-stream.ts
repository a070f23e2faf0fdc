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
  return new BufferedStream(disconnect, interruptSignal);
}

class BufferedStream implements ClientStream {
  readonly body: AsyncIterable<Uint8Array>;
  readonly #disconnect: AbortSignal;
  readonly #interruptSignal: AbortSignal | undefined;
  readonly #disconnection = new AbortController();
  readonly #buffer: Uint8Array[] = [];
  #bufferedBytes = 0;
  #endState: "no" | "whole" | "reset" = "no";
  #wakeReader: () => void = () => {};
  #resetError: unknown = new ConnectionReset("The session was stopped");
  /** A set, because a turn and its keep-alive events may wait at the same time. */
  readonly #writers = new Set<() => void>();

  constructor(disconnect: AbortSignal, interruptSignal: AbortSignal | undefined) {
    this.#disconnect = disconnect;
    this.#interruptSignal = interruptSignal;
    this.body = this.#read();
    disconnect.addEventListener("abort", this.#disconnectClient);
    interruptSignal?.addEventListener("abort", this.#wakeWriters);
    if (disconnect.aborted) this.#disconnectClient();
  }

  get disconnectSignal(): AbortSignal {
    return this.#disconnection.signal;
  }

  async send(chunk: Uint8Array): Promise<void> {
    if (this.#disconnection.signal.aborted || chunk.length === 0) return;
    this.#buffer.push(chunk);
    this.#bufferedBytes += chunk.length;
    this.#wakeReader();
    while (this.#isFull) {
      await new Promise<void>((resolve) => this.#writers.add(resolve));
    }
  }

  end(): void {
    this.#finish("whole");
  }

  reset(bug?: unknown): void {
    if (bug !== undefined) this.#resetError = bug;
    this.#finish("reset");
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    try {
      while (!this.#disconnection.signal.aborted) {
        const chunk = this.#buffer.shift();
        if (chunk !== undefined) {
          this.#bufferedBytes -= chunk.length;
          this.#wakeWriters();
          yield chunk;
        } else if (this.#endState === "reset") throw this.#resetError;
        else if (this.#endState === "whole") return;
        else await new Promise<void>((resolve) => (this.#wakeReader = resolve));
      }
    } finally {
      this.#disconnectClient();
    }
  }

  get #isFull(): boolean {
    return (
      this.#bufferedBytes > MAX_BUFFERED_BYTES &&
      !this.#disconnection.signal.aborted &&
      this.#interruptSignal?.aborted !== true
    );
  }

  #finish(result: "whole" | "reset"): void {
    this.#endState = result;
    this.#wakeReader();
  }

  /** An arrow function, because the abort signals call and remove it by reference. */
  readonly #wakeWriters = (): void => {
    for (const wake of this.#writers) wake();
    this.#writers.clear();
  };

  readonly #disconnectClient = (): void => {
    this.#disconnect.removeEventListener("abort", this.#disconnectClient);
    this.#interruptSignal?.removeEventListener("abort", this.#wakeWriters);
    this.#disconnection.abort();
    this.#buffer.length = 0;
    this.#wakeReader();
    this.#wakeWriters();
  };
}

const MAX_BUFFERED_BYTES = 64 * 1024;
