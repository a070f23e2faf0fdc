import type { Writable } from "node:stream";
import { createPendingCounter } from "./backpressure.ts";

/** Lines on their way out, in order. Nothing here waits; whoever has much to say asks `below` first. */
export interface LineWriter {
  /** Some have streams of their own for sessions. */
  write(line: string, sessionId?: string): void;
  /** Characters on their way. */
  readonly queuedCharacters: number;
  /** Resolves when no more than this many characters are on their way, or nobody takes them any more. */
  waitUntilBelow(characters: number): Promise<void>;
  /** What is on its way about one session, where that goes a way of its own. */
  findStream?(sessionId: string): Pick<LineWriter, "queuedCharacters" | "waitUntilBelow">;
  /** The client is done with a session: what nobody reads about it is forgotten. False where somebody does. */
  dropSession?(sessionId: string): boolean;
  /** Aborted when nobody reads any more. */
  readonly disconnectSignal: AbortSignal;
}

/**
 * Lines of one tick, and lines that come while others are being written, go out as one write: a write for each line
 * costs more than making the line.
 */
export function createLineWriter(output: Writable): LineWriter {
  const disconnectController = new AbortController();
  const pending = createPendingCounter();
  let lines: string[] = [];
  let isBusy = false;

  function disconnect(): void {
    lines = [];
    disconnectController.abort();
    pending.clear();
  }

  function flush(): void {
    if (disconnectController.signal.aborted) return;
    const text = lines.join("");
    lines = [];
    output.write(text, () => {
      isBusy = false;
      if (disconnectController.signal.aborted) return;
      schedule();
      pending.remove(text.length);
    });
  }

  function schedule(): void {
    if (isBusy || lines.length === 0) return;
    isBusy = true;
    queueMicrotask(flush);
  }

  // A reader may leave at any time (EPIPE): that ends the connection and nothing else.
  output.on("error", disconnect);
  output.on("close", disconnect);
  if (output.destroyed || output.writableEnded) disconnect();
  return {
    disconnectSignal: disconnectController.signal,
    get queuedCharacters() {
      return pending.length;
    },
    write(line) {
      if (disconnectController.signal.aborted) return;
      lines.push(line);
      pending.add(line.length);
      schedule();
    },
    waitUntilBelow: (characters) => pending.waitUntilBelow(characters),
  };
}
