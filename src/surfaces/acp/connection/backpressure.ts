/** Backpressure towards a client. Events beyond the client's capacity stay in the log until the client reads more. */
export interface Backpressure {
  hasCapacity(sessionId?: string): boolean;
  /**
   * Resolves when capacity may be available again. Several sessions may wait for the same capacity, so callers check
   * `hasCapacity` again.
   */
  waitForCapacity(sessionId?: string): Promise<void>;
}

interface OutputQueue {
  readonly queuedCharacters: number;
  waitUntilBelow(characters: number): Promise<void>;
}

/** The output queue of a client, and the queue of a session if the session has its own stream. */
interface QueuedOutput extends OutputQueue {
  findStream?(sessionId: string): OutputQueue;
}

/** A session with its own stream has its own capacity, so an unread stream does not delay the other sessions. */
export function createBackpressure(writer: QueuedOutput): Backpressure {
  const findStream = (sessionId: string | undefined) =>
    sessionId === undefined ? undefined : writer.findStream?.(sessionId);
  return {
    hasCapacity(sessionId) {
      const stream = findStream(sessionId);
      if (stream === undefined) return writer.queuedCharacters <= MAX_QUEUED_CHARACTERS;
      // An empty stream always has capacity, however much output of other streams is unread.
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

/** Characters. Enough to keep a pipe busy; further events wait in the log. */
const MAX_QUEUED_CHARACTERS = 256 * 1024;
/** Characters, the sum of all streams of a client. */
const MAX_TOTAL_CHARACTERS = 2 * 1024 * 1024;
