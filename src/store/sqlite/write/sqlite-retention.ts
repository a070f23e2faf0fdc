import { DELTA_EVENT_TYPES, findEndedDeltas } from "../../ended-deltas.ts";
import type { RetentionMoment, RetentionSubject } from "../../retention.ts";
import type { EventKinds } from "../file/event-kinds.ts";
import type { EventRows } from "../read/event-rows.ts";
import { deleteSession, listTree, type SessionRow } from "../file/session-rows.ts";
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
  const listIfUnused = (
    sessionId: string,
    { now, owner }: RetentionMoment,
  ): readonly SessionRow[] => {
    const query = `SELECT 1 FROM sessions WHERE id = ? AND ${UNUSED_CONDITION}`;
    const isUnused = (id: string): boolean =>
      sql.get(query, id, now, owner ?? null) !== undefined && !isBusy(id);
    const tree = listTree(sql, sessionId);
    return tree.every((session) => isUnused(session.sessionId)) ? tree : [];
  };
  return {
    countBytes: () =>
      sql.get("SELECT coalesce(sum(bytes), 0) AS all_bytes FROM sessions")?.number("all_bytes") ??
      0,
    listUnused({ now, owner }) {
      // A tree of sessions is as old as its newest session.
      const query = `SELECT id, max(updated_at, coalesce((SELECT max(updated_at) FROM sessions AS child
          WHERE child.lineage IS NOT NULL
            AND json_extract(child.lineage, '$.rootSessionId') = sessions.id), 0)) AS updated_at
        FROM sessions WHERE lineage IS NULL AND ${UNUSED_CONDITION} ORDER BY 2, id`;
      return sql
        .all(query, now, owner ?? null)
        .map((row) => ({ sessionId: row.text("id"), updatedAt: row.number("updated_at") }));
    },
    dropDeltas(sessionId, moment) {
      let total = 0;
      for (const session of listIfUnused(sessionId, moment)) {
        const dropped = sql.transaction(() => dropDeltas(parts, session));
        if (dropped > 0) onChange(session.sessionId);
        total += dropped;
      }
      return total;
    },
    remove(sessionId, moment) {
      const tree = listIfUnused(sessionId, moment);
      if (tree.length === 0) return false;
      sql.transaction(() => {
        for (const { key } of tree) deleteSession(sql, key);
      });
      // Returns up to 256 free pages to the file system.
      sql.all("PRAGMA incremental_vacuum(256)");
      for (const session of tree) onChange(session.sessionId);
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
