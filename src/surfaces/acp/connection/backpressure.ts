/** Whether a client can be told more at once. What has no room stays in the log. */
export interface Backpressure {
  hasCapacity(sessionId?: string): boolean;
  /** Resolves when there may be room again. */
  waitForCapacity(sessionId?: string): Promise<void>;
}

interface OutputQueue {
  readonly queuedCharacters: number;
  waitUntilBelow(characters: number): Promise<void>;
}

/** The queue of a client, and the queue of a session if the session has a stream of its own. */
interface QueuedOutput extends OutputQueue {
  findStream?(sessionId: string): OutputQueue;
}

/** A session with a stream of its own has room of its own, so that one which nobody reads holds up no other. */
export function createBackpressure(writer: QueuedOutput): Backpressure {
  const findStream = (sessionId: string | undefined) =>
    sessionId === undefined ? undefined : writer.findStream?.(sessionId);
  return {
    hasCapacity(sessionId) {
      const stream = findStream(sessionId);
      if (stream === undefined) return writer.queuedCharacters <= MAX_QUEUED_CHARACTERS;
      // Who reads all that there is gets on, however much others leave unread.
      if (stream.queuedCharacters === 0) return true;
      return (
        stream.queuedCharacters <= MAX_QUEUED_CHARACTERS &&
        writer.queuedCharacters <= MAX_TOTAL_CHARACTERS
      );
    },
    async waitForCapacity(sessionId) {
      const stream = findStream(sessionId);
      if (stream === undefined) return writer.waitUntilBelow(MAX_QUEUED_CHARACTERS);
      if (stream.queuedCharacters > MAX_QUEUED_CHARACTERS)
        return stream.waitUntilBelow(MAX_QUEUED_CHARACTERS);
      await Promise.race([stream.waitUntilBelow(0), writer.waitUntilBelow(MAX_TOTAL_CHARACTERS)]);
    },
  };
}

/** Characters. Enough to keep a pipe busy; what is more waits in the log. */
const MAX_QUEUED_CHARACTERS = 256 * 1024;
/** Characters, of all streams of one client. */
const MAX_TOTAL_CHARACTERS = 2 * 1024 * 1024;

/** An amount of pending work, such as queued characters, and the callers that wait until it shrinks. */
export interface PendingCounter {
  readonly length: number;
  add(amount: number): void;
  remove(amount: number): void;
  /** Nothing is pending any more: the reader is gone. */
  clear(): void;
  /** Resolves when there is no more than this. */
  readonly waitUntilBelow: (limit: number) => Promise<void>;
}

export function createPendingCounter(): PendingCounter {
  let length = 0;
  let waiting: { readonly limit: number; readonly resolve: () => void }[] = [];
  function shrink(to: number): void {
    length = to;
    const ready = waiting.filter(({ limit }) => length <= limit);
    waiting = waiting.filter(({ limit }) => length > limit);
    for (const { resolve } of ready) resolve();
  }
  return {
    get length() {
      return length;
    },
    add(amount) {
      length += amount;
    },
    remove: (amount) => shrink(length - amount),
    clear: () => shrink(0),
    waitUntilBelow: (limit) =>
      length <= limit
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ limit, resolve });
          }),
  };
}
