import { formatEvent } from "../../../http/routing/event-stream.ts";
import { createPendingCounter, type PendingCounter } from "../connection/backpressure.ts";
import type { LineWriter } from "../connection/line-writer.ts";

/**
 * Writes lines as server-sent events: lines about a session go to the session's stream, all other lines to the
 * connection's stream.
 */
export interface StreamWriter extends LineWriter {
  /** Reads the events of a stream. A new reader replaces the previous reader of the same stream. */
  readEvents(sessionId: string | undefined, disconnectSignal: AbortSignal): AsyncIterable<string>;
  /** Removes the next line from the connection's stream before the stream has a reader. */
  takeLine(): string | undefined;
  close(): void;
}

interface EventStream {
  lines: string[];
  /** Characters not yet taken by a reader. */
  readonly pending: PendingCounter;
  isDropped: boolean;
  /** Wakes the reader waiting for lines. */
  wake: () => void;
  reader: object | undefined;
}

export function createStreamWriter(): StreamWriter {
  const disconnectController = new AbortController();
  const totalPending = createPendingCounter();
  const streams = new Map<string | undefined, EventStream>();

  /**
   * Clients choose the session ids in their requests. Overlong ids and ids beyond the stream limit share the
   * connection's stream.
   */
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

  /** Lines count as sent when taken by the reader, even if the reader disconnects before the write ends. */
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
