import type { Writable } from "node:stream";
import { createPendingCounter } from "./pending-work.ts";

/** An ordered output of lines. `write` never waits: callers with much output call `waitUntilBelow` first. */
export interface LineWriter {
  /** Queues a line. Writers with one stream per session use `sessionId` to choose the stream. */
  write(line: string, sessionId?: string): void;
  /** Characters queued or being written. */
  readonly queuedCharacters: number;
  /** Resolves when at most `characters` are queued, or when the reader is gone. */
  waitUntilBelow(characters: number): Promise<void>;
  /** The output queue of a session. Absent if all sessions share the same stream. */
  findStream?(sessionId: string): Pick<LineWriter, "queuedCharacters" | "waitUntilBelow">;
  /** Discards queued output of a session the client has closed. Returns false if a reader still uses the stream. */
  dropSession?(sessionId: string): boolean;
  /** Aborts when the reader is gone. */
  readonly disconnectSignal: AbortSignal;
}

/**
 * Batches all lines of a tick, and all lines queued during a write, into one write: a write per line costs more than
 * encoding the line.
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

  // The reader may close the pipe at any time (EPIPE). Only this connection ends.
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
