import type { StoredSessions } from "../bridge/stored-sessions.ts";
import type { Envelope } from "../domain/envelope.ts";

/** All that is in the log of a session now. */
export async function* logOf(
  sessions: StoredSessions,
  sessionId: string,
): AsyncGenerator<Envelope, void, undefined> {
  for (let after = 0; ;) {
    const events = await sessions.read(sessionId, after, PAGE);
    yield* events;
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE) return;
    after = last.seq;
  }
}

const PAGE = 500;
