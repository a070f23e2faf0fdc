import type { Principal } from "../../../domain/actor.ts";
import type { Sessions } from "../../../session/sessions.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";

/** A session's entry in the list of sessions. */
export type SessionEntry = NonNullable<Awaited<ReturnType<Sessions["find"]>>>;

/** Finds a session of this principal. Sessions of other principals are reported as missing. */
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
  const page = await sessions.list({ limit: 1, principal: id, parent: null });
  return page.sessions[0];
}

/**
 * Rejects if the events after a cursor are not in the log, or not yet: a client resuming there would miss events
 * without notice. A subscription starting at the cursor rejects with the reason.
 */
export async function checkCursor(
  sessions: Sessions,
  { sessionId, incarnation, seq }: Pick<SessionEntry, "sessionId" | "incarnation" | "seq">,
  from: UpdateCursor,
): Promise<void> {
  // The cursor is at the end of the log, so no event can be missing.
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
