import { eventText } from "../../http/event-stream.ts";
import { createBacklog } from "./backlog.ts";
import type { LineWriter } from "./line-writer.ts";

/** Lines as the events of several streams: what is about a session is in that session's, all else in the connection's. */
export interface StreamWriter extends LineWriter {
  /** The events of a stream. Whoever reads it next reads it in place of the one before. */
  events(sessionId: string | undefined, left: AbortSignal): AsyncIterable<string>;
  /** The next line of the connection's stream, which nobody reads yet. */
  take(): string | undefined;
  close(): void;
}

interface Stream {
  lines: string[];
  /** Wakes whoever reads it. */
  wake: () => void;
  reader: object | undefined;
}

export function streamWriter(): StreamWriter {
  const gone = new AbortController();
  const backlog = createBacklog();
  const streams = new Map<string | undefined, Stream>();

  /** A client may name anything a session, and as many as it likes: what is more goes to the connection's stream. */
  function placeOf(sessionId: string | undefined): string | undefined {
    if (sessionId === undefined || streams.has(sessionId)) return sessionId;
    const isOne = sessionId.length <= MOST_CHARACTERS && streams.size < MOST_STREAMS;
    return isOne ? sessionId : undefined;
  }

  function streamOf(sessionId: string | undefined): Stream {
    const known = streams.get(sessionId);
    if (known !== undefined) return known;
    const stream: Stream = { lines: [], wake: () => {}, reader: undefined };
    streams.set(sessionId, stream);
    return stream;
  }

  /** A reader that goes in the midst of them had them all the same. */
  function* given(lines: readonly string[]): Generator<string, void, undefined> {
    try {
      yield lines.map((line) => eventText(undefined, line.trimEnd())).join("");
    } finally {
      if (!gone.signal.aborted) for (const line of lines) backlog.remove(line.length);
    }
  }

  async function* read(
    sessionId: string | undefined,
    left: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const stream = streamOf(sessionId);
    const own = {};
    stream.reader = own;
    const isOver = (): boolean => stream.reader !== own || left.aborted || gone.signal.aborted;
    stream.wake();
    left.addEventListener("abort", () => stream.wake());
    try {
      while (!isOver()) {
        const { lines } = stream;
        if (lines.length > 0) {
          stream.lines = [];
          yield* given(lines);
        } else {
          await new Promise<void>((resolve) => {
            stream.wake = resolve;
          });
        }
      }
    } finally {
      const isUsed = stream.reader !== own || stream.lines.length > 0;
      if (!isUsed && streams.get(sessionId) === stream) streams.delete(sessionId);
    }
  }

  return {
    gone: gone.signal,
    get queued() {
      return backlog.length;
    },
    write(line, sessionId) {
      if (gone.signal.aborted) return;
      const stream = streamOf(placeOf(sessionId));
      stream.lines.push(line);
      backlog.add(line.length);
      stream.wake();
    },
    below: (characters) => backlog.below(characters),
    events: read,
    take() {
      const line = streamOf(undefined).lines.shift();
      if (line !== undefined) backlog.remove(line.length);
      return line;
    },
    close() {
      gone.abort();
      for (const { wake } of streams.values()) wake();
      streams.clear();
      backlog.clear();
    },
  };
}

const MOST_STREAMS = 1000;
const MOST_CHARACTERS = 200;
