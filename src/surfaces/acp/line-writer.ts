import type { Writable } from "node:stream";
import { createBacklog } from "./backlog.ts";

/** Lines on their way out, in order. Nothing here waits; whoever has much to say asks `below` first. */
export interface LineWriter {
  /** Some have streams of their own for sessions. */
  write(line: string, sessionId?: string): void;
  /** Characters on their way. */
  readonly queued: number;
  /** Resolves when no more than this many characters are on their way, or nobody takes them any more. */
  below(characters: number): Promise<void>;
  /** What is on its way about one session, where that goes a way of its own. */
  stream?(sessionId: string): Pick<LineWriter, "queued" | "below">;
  /** The client is done with a session: what nobody reads about it is forgotten. False where somebody does. */
  drop?(sessionId: string): boolean;
  /** Aborted when nobody reads any more. */
  readonly gone: AbortSignal;
}

/**
 * Lines of one tick, and lines that come while others are being written, go out as one write: a write for each line
 * costs more than making the line.
 */
export function lineWriter(output: Writable): LineWriter {
  const gone = new AbortController();
  const backlog = createBacklog();
  let lines: string[] = [];
  let isBusy = false;

  function leave(): void {
    lines = [];
    gone.abort();
    backlog.clear();
  }

  function flush(): void {
    if (gone.signal.aborted) return;
    const text = lines.join("");
    lines = [];
    output.write(text, () => {
      isBusy = false;
      if (gone.signal.aborted) return;
      schedule();
      backlog.remove(text.length);
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
      return backlog.length;
    },
    write(line) {
      if (gone.signal.aborted) return;
      lines.push(line);
      backlog.add(line.length);
      schedule();
    },
    below: (characters) => backlog.below(characters),
  };
}
