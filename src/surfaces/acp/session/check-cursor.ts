import type { Sessions } from "../../../session/sessions.ts";
import type { UpdateCursor } from "../../../wire/acp/encode/update-cursor.ts";
import type { SessionEntry } from "./find-session.ts";

/**
 * Rejects where what follows a cursor is not there, or not yet: whoever went on from it would miss something and not know.
 * The log itself says so, to whoever begins to read it there.
 */
export async function checkCursor(
  sessions: Sessions,
  { sessionId, incarnation, seq }: Pick<SessionEntry, "sessionId" | "incarnation" | "seq">,
  from: UpdateCursor,
): Promise<void> {
  // There is nothing to read yet, and nothing wrong.
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
