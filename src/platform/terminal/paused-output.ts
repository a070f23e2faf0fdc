import type { CommandIo } from "../process/command-io.ts";

/** Buffers the output of this process while a prompt must stand alone on the terminal. */
export interface PausedOutput {
  /** Prints immediately, bypassing the buffer. */
  readonly print: (text: string) => void;
  /** Prints the buffered output and ends the pause. */
  readonly resume: () => void;
}

/**
 * Buffers everything written to a terminal in this process, including the output of user tools. Only the first megabyte
 * of stderr is buffered, because a tool may print without end; stdout is buffered completely.
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
      // A dropped write still calls its callback: a caller may wait for it.
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
      if (droppedBytes > 0) stderr.write(`(${droppedBytes} more bytes of output were dropped)\n`);
      droppedBytes = 0;
    },
  };
}

const MAX_NOTE_BYTES = 1024 * 1024;

function measureChunk(chunk: unknown): number {
  if (typeof chunk === "string") return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}
