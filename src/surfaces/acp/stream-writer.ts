import { eventText } from "../../http/event-stream.ts";
import { createBacklog, type Backlog } from "./backlog.ts";
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
  /** What of it nobody has taken yet. */
  readonly backlog: Backlog;
  isDropped: boolean;
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
    const stream: Stream = {
      lines: [],
      backlog: createBacklog(),
      isDropped: false,
      wake: () => {},
      reader: undefined,
    };
    streams.set(sessionId, stream);
    return stream;
  }

  function remove(stream: Stream, lines: readonly string[]): void {
    if (gone.signal.aborted || stream.isDropped) return;
    for (const { length } of lines) {
      stream.backlog.remove(length);
      backlog.remove(length);
    }
  }

  /** A reader that goes in the midst of them had them all the same. */
  function* given(stream: Stream): Generator<string, void, undefined> {
    const { lines } = stream;
    stream.lines = [];
    try {
      yield lines.map((line) => eventText(undefined, line.trimEnd())).join("");
    } finally {
      remove(stream, lines);
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
        if (stream.lines.length > 0) yield* given(stream);
        else {
          await new Promise<void>((resolve) => {
            stream.wake = resolve;
          });
        }
      }
    } finally {
      if (stream.reader === own) stream.reader = undefined;
      const isUsed = stream.reader !== undefined || stream.lines.length > 0;
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
      stream.backlog.add(line.length);
      backlog.add(line.length);
      stream.wake();
    },
    below: (characters) => backlog.below(characters),
    stream(sessionId) {
      const own = streams.get(placeOf(sessionId))?.backlog ?? NOTHING;
      return { queued: own.length, below: own.below };
    },
    drop(sessionId) {
      const stream = streams.get(sessionId);
      if (stream?.reader !== undefined || placeOf(sessionId) === undefined) return false;
      streams.delete(sessionId);
      if (stream === undefined) return true;
      stream.isDropped = true;
      backlog.remove(stream.backlog.length);
      stream.backlog.clear();
      return true;
    },
    events: read,
    take() {
      const stream = streamOf(undefined);
      const line = stream.lines.shift();
      if (line !== undefined) remove(stream, [line]);
      return line;
    },
    close() {
      gone.abort();
      for (const stream of streams.values()) {
        stream.wake();
        stream.backlog.clear();
      }
      streams.clear();
      backlog.clear();
    },
  };
}

const MOST_STREAMS = 1000;
const MOST_CHARACTERS = 200;
const NOTHING = createBacklog();
