/** What this process prints, kept back while something has to stand alone on the terminal. */
export interface HeldOutput {
  /** Prints past what is kept back. */
  readonly print: (text: string) => void;
  /** Prints what was kept back; from here on everybody prints at once again. */
  readonly release: () => void;
}

/**
 * Keeps back what anybody in this process prints on a terminal: tools of the user's own write there without asking us.
 * Of notes only the beginning is kept, since a tool may print without end; results are kept whole.
 */
export function holdOutput(): HeldOutput {
  const { stdout, stderr } = process;
  const print = stderr.write.bind(stderr);
  const held: (() => void)[] = [];
  let notes = 0;
  let leftOut = 0;
  const restored = [stderr, stdout].map((stream) => {
    const write = stream.write.bind(stream);
    if (!stream.isTTY) return () => {};
    stream.write = (...parts: unknown[]): boolean => {
      const size = sizeOf(parts[0]);
      const isKept = stream === stdout || notes + size <= MOST_NOTES;
      if (stream === stderr && isKept) notes += size;
      if (!isKept) leftOut += size;
      // Whoever waits until it is written is told all the same.
      held.push(() => void Reflect.apply(write, stream, isKept ? parts : ["", ...parts.slice(1)]));
      return true;
    };
    return () => void (stream.write = write);
  });
  return {
    print: (text) => void print(text),
    release() {
      for (const restore of restored.splice(0)) restore();
      for (const write of held.splice(0)) write();
      if (leftOut > 0) stderr.write(`(${leftOut} bytes more were printed, and are left out)\n`);
      leftOut = 0;
    },
  };
}

const MOST_NOTES = 1024 * 1024;

function sizeOf(chunk: unknown): number {
  if (typeof chunk === "string") return Buffer.byteLength(chunk);
  return chunk instanceof Uint8Array ? chunk.byteLength : 0;
}
