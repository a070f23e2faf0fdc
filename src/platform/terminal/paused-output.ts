import type { CommandIo } from "../process/command-io.ts";

/** What this process prints, kept back while something has to stand alone on the terminal. */
export interface PausedOutput {
  /** Prints past what is kept back. */
  readonly print: (text: string) => void;
  /** Prints what was kept back; from here on everybody prints at once again. */
  readonly resume: () => void;
}

/**
 * Keeps back what anybody in this process prints on a terminal: tools of the user's own write there without asking us.
 * Of notes only the beginning is kept, since a tool may print without end; results are kept whole.
 */
export function pauseOutput({
  stdout,
  stderr,
}: Pick<CommandIo, "stdout" | "stderr">): PausedOutput {
  const print = stderr.write.bind(stderr);
  const pausedWrites: (() => void)[] = [];
  let noteBytes = 0;
  let droppedBytes = 0;
  const restoreFunctions = [stderr, stdout].map((stream) => {
    const write = stream.write.bind(stream);
    if (stream.isTTY !== true) return () => {};
    stream.write = (...parts: unknown[]): boolean => {
      const size = measureChunk(parts[0]);
      const isStored = stream === stdout || noteBytes + size <= MAX_NOTE_BYTES;
      if (stream === stderr && isStored) noteBytes += size;
      if (!isStored) droppedBytes += size;
      // Whoever waits until it is written is told all the same.
      pausedWrites.push(
        () => void Reflect.apply(write, stream, isStored ? parts : ["", ...parts.slice(1)]),
      );
      return true;
    };
    return () => void (stream.write = write);
  });
  return {
    print: (text) => void print(text),
    resume() {
      for (const restore of restoreFunctions.splice(0)) restore();
      for (const write of pausedWrites.splice(0)) write();
      if (droppedBytes > 0)
        stderr.write(`(${droppedBytes} bytes more were printed, and are left out)\n`);
      droppedBytes = 0;
    },
  };
}

const MAX_NOTE_BYTES = 1024 * 1024;

function measureChunk(chunk: unknown): number {
  if (typeof chunk === "string") return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}
