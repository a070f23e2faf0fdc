import type { Principal } from "../../../domain/actor.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";

/** What the list of sessions says of one. */
export type SessionEntry = NonNullable<Awaited<ReturnType<Sessions["find"]>>>;

/** A session belongs to its principal; to another it is not there. */
export async function findSession(
  sessions: Sessions,
  sessionId: string,
  { id }: Principal,
): Promise<SessionEntry | undefined> {
  const entry = await sessions.find(sessionId);
  return entry?.principal === id ? entry : undefined;
}

export async function findLatestSession(
  sessions: Sessions,
  { id }: Principal,
): Promise<SessionEntry | undefined> {
  const page = await sessions.list({ limit: 1, principal: id });
  return page.sessions[0];
}

/**
 * Rejects if the events after a cursor are not in the log, or not yet: a client that resumed there would miss some without
 * notice. A subscription that starts at the cursor rejects with the reason.
 */
export async function checkCursor(
  sessions: Sessions,
  { sessionId, incarnation, seq }: Pick<SessionEntry, "sessionId" | "incarnation" | "seq">,
  from: UpdateCursor,
): Promise<void> {
  // The cursor is at the end of the log, so there is nothing to read yet.
  if (from.incarnation === incarnation && from.seq === seq) return;
  const end = new AbortController();
  const cursor = { incarnation: from.incarnation, seq: from.seq };
  const events = sessions.subscribe(sessionId, cursor, end.signal)[Symbol.asyncIterator]();
  try {
    await events.next();
  } finally {
    end.abort();
    await events.return?.();
  }
}
