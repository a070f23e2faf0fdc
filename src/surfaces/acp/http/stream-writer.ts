import { formatEvent } from "../../../http/routing/event-stream.ts";
import { createPendingCounter, type PendingCounter } from "../connection/pending-work.ts";
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
  return new SessionStreamWriter();
}

class SessionStreamWriter implements StreamWriter {
  readonly #disconnectController = new AbortController();
  readonly disconnectSignal = this.#disconnectController.signal;
  readonly #totalPending = createPendingCounter();
  /** By session id. The key of the connection's stream is undefined. */
  readonly #streams = new Map<string | undefined, EventStream>();

  get queuedCharacters(): number {
    return this.#totalPending.length;
  }

  write(line: string, sessionId?: string): void {
    if (this.disconnectSignal.aborted) return;
    const stream = this.#getOrCreateStream(this.#resolveStreamKey(sessionId));
    stream.lines.push(line);
    stream.pending.add(line.length);
    this.#totalPending.add(line.length);
    stream.wake();
  }

  waitUntilBelow(characters: number): Promise<void> {
    return this.#totalPending.waitUntilBelow(characters);
  }

  findStream(sessionId: string): Pick<LineWriter, "queuedCharacters" | "waitUntilBelow"> {
    const own = this.#streams.get(this.#resolveStreamKey(sessionId))?.pending ?? EMPTY_COUNTER;
    return { queuedCharacters: own.length, waitUntilBelow: own.waitUntilBelow };
  }

  dropSession(sessionId: string): boolean {
    const stream = this.#streams.get(sessionId);
    if (stream?.reader !== undefined || this.#resolveStreamKey(sessionId) === undefined)
      return false;
    this.#streams.delete(sessionId);
    if (stream === undefined) return true;
    stream.isDropped = true;
    this.#totalPending.remove(stream.pending.length);
    stream.pending.clear();
    return true;
  }

  async *readEvents(
    sessionId: string | undefined,
    disconnectSignal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const stream = this.#getOrCreateStream(sessionId);
    const own = {};
    stream.reader = own;
    const isOver = (): boolean =>
      stream.reader !== own || disconnectSignal.aborted || this.disconnectSignal.aborted;
    stream.wake();
    disconnectSignal.addEventListener("abort", () => stream.wake());
    try {
      while (!isOver()) {
        if (stream.lines.length > 0) yield* this.#drainLines(stream);
        else {
          await new Promise<void>((resolve) => {
            stream.wake = resolve;
          });
        }
      }
    } finally {
      if (stream.reader === own) stream.reader = undefined;
      const isInUse = stream.reader !== undefined || stream.lines.length > 0;
      if (!isInUse && this.#streams.get(sessionId) === stream) this.#streams.delete(sessionId);
    }
  }

  takeLine(): string | undefined {
    const stream = this.#getOrCreateStream(undefined);
    const line = stream.lines.shift();
    if (line !== undefined) this.#remove(stream, [line]);
    return line;
  }

  close(): void {
    this.#disconnectController.abort();
    for (const stream of this.#streams.values()) {
      stream.wake();
      stream.pending.clear();
    }
    this.#streams.clear();
    this.#totalPending.clear();
  }

  /**
   * Clients choose the session ids in their requests. Overlong ids and ids beyond the stream limit share the
   * connection's stream.
   */
  #resolveStreamKey(sessionId: string | undefined): string | undefined {
    if (sessionId === undefined || this.#streams.has(sessionId)) return sessionId;
    const hasOwnStream = sessionId.length <= MAX_KEY_CHARACTERS && this.#streams.size < MAX_STREAMS;
    return hasOwnStream ? sessionId : undefined;
  }

  #getOrCreateStream(sessionId: string | undefined): EventStream {
    const existing = this.#streams.get(sessionId);
    if (existing !== undefined) return existing;
    const stream: EventStream = {
      lines: [],
      pending: createPendingCounter(),
      isDropped: false,
      wake: () => {},
      reader: undefined,
    };
    this.#streams.set(sessionId, stream);
    return stream;
  }

  /** Lines count as sent when taken by the reader, even if the reader disconnects before the write ends. */
  *#drainLines(stream: EventStream): Generator<string, void, undefined> {
    const { lines } = stream;
    stream.lines = [];
    try {
      yield lines.map((line) => formatEvent(undefined, line.trimEnd())).join("");
    } finally {
      this.#remove(stream, lines);
    }
  }

  #remove(stream: EventStream, lines: readonly string[]): void {
    if (this.disconnectSignal.aborted || stream.isDropped) return;
    for (const { length } of lines) {
      stream.pending.remove(length);
      this.#totalPending.remove(length);
    }
  }
}

const MAX_STREAMS = 1000;
const MAX_KEY_CHARACTERS = 200;
const EMPTY_COUNTER = createPendingCounter();
