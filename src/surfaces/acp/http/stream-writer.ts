import { formatEvent } from "../../../http/routing/event-stream.ts";
import { createPendingCounter, type PendingCounter } from "../connection/backpressure.ts";
import type { LineWriter } from "../connection/line-writer.ts";

/** Lines as the events of several streams: what is about a session is in that session's, all else in the connection's. */
export interface StreamWriter extends LineWriter {
  /** The events of a stream. Whoever reads it next reads it in place of the one before. */
  readEvents(sessionId: string | undefined, disconnectSignal: AbortSignal): AsyncIterable<string>;
  /** The next line of the connection's stream, which nobody reads yet. */
  takeLine(): string | undefined;
  close(): void;
}

interface EventStream {
  lines: string[];
  /** What of it nobody has taken yet. */
  readonly pending: PendingCounter;
  isDropped: boolean;
  /** Wakes whoever reads it. */
  wake: () => void;
  reader: object | undefined;
}

export function createStreamWriter(): StreamWriter {
  const disconnectController = new AbortController();
  const totalPending = createPendingCounter();
  const streams = new Map<string | undefined, EventStream>();

  /** A client may name anything a session, and as many as it likes: what is more goes to the connection's stream. */
  function resolveStreamKey(sessionId: string | undefined): string | undefined {
    if (sessionId === undefined || streams.has(sessionId)) return sessionId;
    const hasOwnStream = sessionId.length <= MAX_KEY_CHARACTERS && streams.size < MAX_STREAMS;
    return hasOwnStream ? sessionId : undefined;
  }

  function getOrCreateStream(sessionId: string | undefined): EventStream {
    const existing = streams.get(sessionId);
    if (existing !== undefined) return existing;
    const stream: EventStream = {
      lines: [],
      pending: createPendingCounter(),
      isDropped: false,
      wake: () => {},
      reader: undefined,
    };
    streams.set(sessionId, stream);
    return stream;
  }

  function remove(stream: EventStream, lines: readonly string[]): void {
    if (disconnectController.signal.aborted || stream.isDropped) return;
    for (const { length } of lines) {
      stream.pending.remove(length);
      totalPending.remove(length);
    }
  }

  /** A reader that goes in the midst of them had them all the same. */
  function* drainLines(stream: EventStream): Generator<string, void, undefined> {
    const { lines } = stream;
    stream.lines = [];
    try {
      yield lines.map((line) => formatEvent(undefined, line.trimEnd())).join("");
    } finally {
      remove(stream, lines);
    }
  }

  async function* read(
    sessionId: string | undefined,
    disconnectSignal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const stream = getOrCreateStream(sessionId);
    const own = {};
    stream.reader = own;
    const isOver = (): boolean =>
      stream.reader !== own || disconnectSignal.aborted || disconnectController.signal.aborted;
    stream.wake();
    disconnectSignal.addEventListener("abort", () => stream.wake());
    try {
      while (!isOver()) {
        if (stream.lines.length > 0) yield* drainLines(stream);
        else {
          await new Promise<void>((resolve) => {
            stream.wake = resolve;
          });
        }
      }
    } finally {
      if (stream.reader === own) stream.reader = undefined;
      const isInUse = stream.reader !== undefined || stream.lines.length > 0;
      if (!isInUse && streams.get(sessionId) === stream) streams.delete(sessionId);
    }
  }

  return {
    disconnectSignal: disconnectController.signal,
    get queuedCharacters() {
      return totalPending.length;
    },
    write(line, sessionId) {
      if (disconnectController.signal.aborted) return;
      const stream = getOrCreateStream(resolveStreamKey(sessionId));
      stream.lines.push(line);
      stream.pending.add(line.length);
      totalPending.add(line.length);
      stream.wake();
    },
    waitUntilBelow: (characters) => totalPending.waitUntilBelow(characters),
    findStream(sessionId) {
      const own = streams.get(resolveStreamKey(sessionId))?.pending ?? EMPTY_COUNTER;
      return { queuedCharacters: own.length, waitUntilBelow: own.waitUntilBelow };
    },
    dropSession(sessionId) {
      const stream = streams.get(sessionId);
      if (stream?.reader !== undefined || resolveStreamKey(sessionId) === undefined) return false;
      streams.delete(sessionId);
      if (stream === undefined) return true;
      stream.isDropped = true;
      totalPending.remove(stream.pending.length);
      stream.pending.clear();
      return true;
    },
    readEvents: read,
    takeLine() {
      const stream = getOrCreateStream(undefined);
      const line = stream.lines.shift();
      if (line !== undefined) remove(stream, [line]);
      return line;
    },
    close() {
      disconnectController.abort();
      for (const stream of streams.values()) {
        stream.wake();
        stream.pending.clear();
      }
      streams.clear();
      totalPending.clear();
    },
  };
}

const MAX_STREAMS = 1000;
const MAX_KEY_CHARACTERS = 200;
const EMPTY_COUNTER = createPendingCounter();
