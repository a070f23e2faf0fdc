import { DELTA_TYPES, endedDeltas } from "../ended-deltas.ts";
import type { Moment, RetentionSubject } from "../retention.ts";
import type { EventKinds } from "./event-kinds.ts";
import type { EventRows } from "./event-rows.ts";
import { deleteSession, findSession, type Found } from "./session-rows.ts";
import type { Sql } from "./sql.ts";

export interface RetentionParts {
  readonly sql: Sql;
  readonly kinds: EventKinds;
  readonly rows: EventRows;
  /** A session that still waits for the disk, or that somebody reads, is in use. */
  readonly isBusy: (sessionId: string) => boolean;
  /** Called after each change. */
  readonly changed: (sessionId: string) => void;
}

export function sqliteRetention(parts: RetentionParts): RetentionSubject {
  const { sql, isBusy, changed } = parts;
  const ifUnused = (sessionId: string, { now, owner }: Moment): Found | undefined => {
    const query = `SELECT 1 FROM sessions WHERE id = ? AND ${UNUSED}`;
    const isUnused = sql.get(query, sessionId, now, owner ?? null) !== undefined;
    return isUnused && !isBusy(sessionId) ? findSession(sql, sessionId) : undefined;
  };
  return {
    bytes: () =>
      sql.get("SELECT coalesce(sum(bytes), 0) AS all_bytes FROM sessions")?.number("all_bytes") ??
      0,
    unused({ now, owner }) {
      const query = `SELECT id, updated_at FROM sessions WHERE ${UNUSED} ORDER BY updated_at, id`;
      return sql
        .all(query, now, owner ?? null)
        .map((row) => ({ sessionId: row.text("id"), updatedAt: row.number("updated_at") }));
    },
    dropDeltas(sessionId, moment) {
      const found = ifUnused(sessionId, moment);
      const dropped = found === undefined ? 0 : sql.transaction(() => dropDeltas(parts, found));
      if (dropped > 0) changed(sessionId);
      return dropped;
    },
    remove(sessionId, moment) {
      const found = ifUnused(sessionId, moment);
      if (found === undefined) return false;
      sql.transaction(() => deleteSession(sql, found.key));
      // Gives pages back to the system, as far as they are at hand.
      sql.all("PRAGMA incremental_vacuum(256)");
      changed(sessionId);
      return true;
    },
  };
}

const UNUSED = `state = 'idle' AND wake_at IS NULL
  AND (owner IS NULL OR (leased_until <= ? AND owner IS NOT ?))`;

function dropDeltas({ sql, kinds, rows }: RetentionParts, found: Found): number {
  const ended = endedDeltas(rows.ofKinds(found, kinds.idsOf(DELTA_TYPES)));
  const last = ended.at(-1);
  if (last === undefined) return 0;
  const remove = sql.prepared("DELETE FROM events WHERE session = ? AND seq = ?");
  for (const seq of ended) remove.run(found.key, seq);
  sql.run(
    `UPDATE sessions SET first_seq = max(first_seq, ?), dropped = dropped + ?,
       bytes = (SELECT coalesce(sum(octet_length(body)), 0) FROM events WHERE session = key) WHERE key = ?`,
    last + 1,
    ended.length,
    found.key,
  );
  return ended.length;
}
