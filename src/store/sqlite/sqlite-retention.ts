import { DELTA_TYPES, endedDeltas } from "../ended-deltas.ts";
import type { RetentionSubject } from "../retention.ts";
import type { EventKinds } from "./event-kinds.ts";
import type { EventRows } from "./event-rows.ts";
import { deleteSession, findSession, type Found } from "./session-rows.ts";
import type { Sql } from "./sql.ts";

export interface RetentionParts {
  readonly sql: Sql;
  readonly kinds: EventKinds;
  readonly rows: EventRows;
  /** A session that still waits for the disk is in use. */
  readonly isBusy: (sessionId: string) => boolean;
  /** Called after each change. */
  readonly changed: (sessionId: string) => void;
}

export function sqliteRetention(parts: RetentionParts): RetentionSubject {
  const { sql, isBusy, changed } = parts;
  const ifUnused = (sessionId: string, now: number): Found | undefined => {
    const found = findSession(sql, sessionId);
    const unused = sql.get(`SELECT 1 FROM sessions WHERE id = ? AND ${UNUSED}`, sessionId, now);
    return unused !== undefined && !isBusy(sessionId) ? found : undefined;
  };
  return {
    bytes: () =>
      sql.get("SELECT coalesce(sum(bytes), 0) AS all_bytes FROM sessions")?.number("all_bytes") ??
      0,
    unused: (now) =>
      sql
        .all(`SELECT id, updated_at FROM sessions WHERE ${UNUSED} ORDER BY updated_at, id`, now)
        .map((row) => ({ sessionId: row.text("id"), updatedAt: row.number("updated_at") })),
    dropDeltas(sessionId, now) {
      const found = ifUnused(sessionId, now);
      const dropped = found === undefined ? 0 : sql.transaction(() => dropDeltas(parts, found));
      if (dropped > 0) changed(sessionId);
      return dropped;
    },
    remove(sessionId, now) {
      const found = ifUnused(sessionId, now);
      if (found === undefined) return false;
      sql.transaction(() => deleteSession(sql, found.key));
      // Gives pages back to the system, as far as they are at hand.
      sql.all("PRAGMA incremental_vacuum(256)");
      changed(sessionId);
      return true;
    },
  };
}

const UNUSED = "wake_at IS NULL AND (owner IS NULL OR leased_until <= ?)";

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
