import type { SessionLineage } from "../domain/workers/session-lineage.ts";

/**
 * The list of sessions: one record per session, changed by `LogStore.append` together with the events.
 *
 * ```ts
 * const { sessions, nextPage } = await store.listSessions({ principal: "ada", search: "green tea", limit: 20 });
 * if (nextPage !== undefined) await store.listSessions({ principal: "ada", search: "green tea", limit: 20, page: nextPage });
 * ```
 *
 * A session without events is not listed and not found.
 */
export interface SessionIndex {
  /**
   * One page, the session with the newest event first. Throws `invalid_option` for a page token not returned by
   * `listSessions`.
   */
  listSessions(query: SessionQuery): Promise<SessionPage>;
  /** Undefined if the session does not exist. */
  findSession(sessionId: string): Promise<SessionRecord | undefined>;
  /**
   * Deletes the session and the sessions of its workers at all levels, with their events, replies, blobs and snapshots,
   * at once, and invalidates their leases. False if the session does not exist.
   */
  deleteSession(sessionId: string): Promise<boolean>;
  /**
   * Yields the sessions which were changed or deleted since the previous item, each once. The first item is a reset; a
   * watcher which lists the sessions after each reset misses no change. Ends with the signal or the store.
   */
  watchSessions(signal: AbortSignal): AsyncIterable<SessionChanges>;
}

export interface SessionChanges {
  /** True if changes may be missing from the items so far. The watcher lists the sessions. */
  readonly reset: boolean;
  readonly changed: readonly SessionRecord[];
  /** Ids of deleted sessions. */
  readonly removed: readonly string[];
}

export interface SessionFields {
  readonly agent?: string;
  readonly principal?: string;
  readonly title?: string;
  readonly workingDirectory?: string;
  /** Further folders of the workspace. */
  readonly folders?: readonly string[];
  /** Set by the caller that opened the session. */
  readonly label?: string;
  readonly state?: SessionRunState;
  /** Present if the session belongs to a worker. */
  readonly lineage?: SessionLineage;
}

export type SessionRunState = "idle" | "running" | "waiting";

export interface SessionRecord extends Required<
  Omit<SessionFields, "title" | "workingDirectory" | "label" | "lineage">
> {
  readonly sessionId: string;
  readonly incarnation: string;
  readonly title: string | null;
  readonly workingDirectory: string | null;
  readonly label: string | null;
  /** Null unless the session belongs to a worker. */
  readonly lineage: SessionLineage | null;
  readonly createdAt: number;
  /** The time of the last event. */
  readonly updatedAt: number;
  readonly seq: number;
  readonly wakeAt: number | null;
}

export interface SessionQuery {
  readonly limit: number;
  /** `nextPage` of the previous page. Default: the first page. */
  readonly page?: string;
  /** Words separated by spaces. Each must occur in the title, the id or a message of the session. */
  readonly search?: string;
  readonly principal?: string;
  readonly agent?: string;
  readonly workingDirectory?: string;
  readonly label?: string;
  readonly state?: SessionRunState;
  /** The sessions of the workers of this session; null: sessions which belong to no worker. Default: both. */
  readonly parent?: string | null;
}

export interface SessionPage {
  readonly sessions: readonly SessionRecord[];
  /** Absent on the last page. */
  readonly nextPage?: string;
}
