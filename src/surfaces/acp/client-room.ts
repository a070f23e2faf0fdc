import type { LineWriter } from "./line-writer.ts";

/** Whether a client can be told more at once. What has no room stays in the log. */
export interface ClientRoom {
  has(sessionId?: string): boolean;
  /** Resolves when there may be room again. */
  wait(sessionId?: string): Promise<void>;
}

/** A session with a stream of its own has room of its own, so that one which nobody reads holds up no other. */
export function clientRoom(writer: LineWriter): ClientRoom {
  const streamOf = (sessionId: string | undefined) =>
    sessionId === undefined ? undefined : writer.stream?.(sessionId);
  return {
    has(sessionId) {
      const stream = streamOf(sessionId);
      if (stream === undefined) return writer.queued <= MOST_QUEUED;
      // Who reads all that there is gets on, however much others leave unread.
      if (stream.queued === 0) return true;
      return stream.queued <= MOST_QUEUED && writer.queued <= MOST_IN_ALL;
    },
    async wait(sessionId) {
      const stream = streamOf(sessionId);
      if (stream === undefined) return writer.below(MOST_QUEUED);
      if (stream.queued > MOST_QUEUED) return stream.below(MOST_QUEUED);
      await Promise.race([stream.below(0), writer.below(MOST_IN_ALL)]);
    },
  };
}

/** Characters. Enough to keep a pipe busy; what is more waits in the log. */
const MOST_QUEUED = 256 * 1024;
/** Characters, of all streams of one client. */
const MOST_IN_ALL = 2 * 1024 * 1024;
