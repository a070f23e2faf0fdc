import { DELTA_EVENT_TYPES, findEndedDeltas } from "../../ended-deltas.ts";
import type { RetentionMoment, RetentionSubject } from "../../retention.ts";
import type { EventKinds } from "../file/event-kinds.ts";
import type { EventRows } from "../read/event-rows.ts";
import { deleteSession, findSession, type SessionRow } from "../file/session-rows.ts";
import type { Sql } from "../file/sql.ts";

export interface RetentionParts {
  readonly sql: Sql;
  readonly kinds: EventKinds;
  readonly rows: EventRows;
  /** True if the session has unsynced entries or readers. */
  readonly isBusy: (sessionId: string) => boolean;
  /** Called after each change. */
  readonly onChange: (sessionId: string) => void;
}

export function createSqliteRetention(parts: RetentionParts): RetentionSubject {
  const { sql, isBusy, onChange } = parts;
  const ifUnused = (sessionId: string, { now, owner }: RetentionMoment): SessionRow | undefined => {
    const query = `SELECT 1 FROM sessions WHERE id = ? AND ${UNUSED_CONDITION}`;
    const isUnused = sql.get(query, sessionId, now, owner ?? null) !== undefined;
    return isUnused && !isBusy(sessionId) ? findSession(sql, sessionId) : undefined;
  };
  return {
    countBytes: () =>
      sql.get("SELECT coalesce(sum(bytes), 0) AS all_bytes FROM sessions")?.number("all_bytes") ??
      0,
    listUnused({ now, owner }) {
      const query = `SELECT id, updated_at FROM sessions WHERE ${UNUSED_CONDITION} ORDER BY updated_at, id`;
      return sql
        .all(query, now, owner ?? null)
        .map((row) => ({ sessionId: row.text("id"), updatedAt: row.number("updated_at") }));
    },
    dropDeltas(sessionId, moment) {
      const session = ifUnused(sessionId, moment);
      const dropped = session === undefined ? 0 : sql.transaction(() => dropDeltas(parts, session));
      if (dropped > 0) onChange(sessionId);
      return dropped;
    },
    remove(sessionId, moment) {
      const session = ifUnused(sessionId, moment);
      if (session === undefined) return false;
      sql.transaction(() => deleteSession(sql, session.key));
      // Returns up to 256 free pages to the file system.
      sql.all("PRAGMA incremental_vacuum(256)");
      onChange(sessionId);
      return true;
    },
  };
}

const UNUSED_CONDITION = `state = 'idle' AND wake_at IS NULL
  AND (owner IS NULL OR (leased_until <= ? AND owner IS NOT ?))`;

function dropDeltas({ sql, kinds, rows }: RetentionParts, session: SessionRow): number {
  const endedSeqs = findEndedDeltas(rows.readKinds(session, kinds.listIds(DELTA_EVENT_TYPES)));
  const last = endedSeqs.at(-1);
  if (last === undefined) return 0;
  const remove = sql.prepare("DELETE FROM events WHERE session = ? AND seq = ?");
  for (const seq of endedSeqs) remove.run(session.key, seq);
  sql.run(
    `UPDATE sessions SET first_seq = max(first_seq, ?), dropped = dropped + ?,
       bytes = (SELECT coalesce(sum(octet_length(body)), 0) FROM events WHERE session = key) WHERE key = ?`,
    last + 1,
    endedSeqs.length,
    session.key,
  );
  return endedSeqs.length;
}
