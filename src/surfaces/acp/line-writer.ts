import type { Writable } from "node:stream";

/** Lines on their way out, in order. Nothing here waits; whoever has much to say asks `below` first. */
export interface LineWriter {
  write(line: string): void;
  /** Characters on their way. */
  readonly queued: number;
  /** Resolves when no more than this many characters are on their way, or nobody takes them any more. */
  below(characters: number): Promise<void>;
  /** Aborted when nobody reads any more. */
  readonly gone: AbortSignal;
}

/**
 * Lines of one tick, and lines that come while others are being written, go out as one write: a write for each line
 * costs more than making the line.
 */
export function lineWriter(output: Writable): LineWriter {
  const gone = new AbortController();
  let lines: string[] = [];
  let queued = 0;
  let isBusy = false;
  let waiting: { readonly limit: number; readonly resolve: () => void }[] = [];

  function wake(): void {
    const ready = waiting.filter(({ limit }) => queued <= limit);
    waiting = waiting.filter(({ limit }) => queued > limit);
    for (const { resolve } of ready) resolve();
  }

  function leave(): void {
    lines = [];
    queued = 0;
    gone.abort();
    wake();
  }

  function flush(): void {
    if (gone.signal.aborted) return;
    const text = lines.join("");
    lines = [];
    output.write(text, () => {
      isBusy = false;
      if (gone.signal.aborted) return;
      queued -= text.length;
      schedule();
      wake();
    });
  }

  function schedule(): void {
    if (isBusy || lines.length === 0) return;
    isBusy = true;
    queueMicrotask(flush);
  }

  // A reader may leave at any time (EPIPE): that ends the connection and nothing else.
  output.on("error", leave);
  output.on("close", leave);
  if (output.destroyed || output.writableEnded) leave();
  return {
    gone: gone.signal,
    get queued() {
      return queued;
    },
    write(line) {
      if (gone.signal.aborted) return;
      lines.push(line);
      queued += line.length;
      schedule();
    },
    below: (limit) =>
      queued <= limit
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ limit, resolve });
          }),
  };
}
