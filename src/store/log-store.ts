import type { Cursor, Draft, Envelope } from "../domain/events/envelope.ts";
import type { JsonValue } from "../data/json.ts";
import type { SessionFields } from "./session-index.ts";

/**
 * The event log of each session: append at the end, read from any position, subscribe from a cursor.
 *
 * ```ts
 * const { lease, head } = await store.acquire("ses_1", { owner: "node-1", now, durationMs: 30_000 });
 * await store.append(lease, head.seq, { events: [draft], command: { id: "cmd_1", reply }, sync: true });
 * for await (const { events } of store.subscribe("ses_1", undefined, signal)) send(events);
 * ```
 *
 * - Events are numbered per session from 1, without gaps. There is no order between sessions.
 * - An appended event survives the death of the process. With `sync: true` it also survives a power failure.
 * - An event waiting for its sync is invisible to every reader, and so are its changes to the session index. A read-only
 *   store in another process cannot see the sync state and may show such an event.
 * - Events, replies and states are JSON. Values that JSON cannot represent are lost.
 * - Every refusal is a `StoreError`; each method lists its codes.
 */
export interface LogStore {
  /**
   * Appends an entry completely or not at all. A repeated command returns its first reply (`status: "repeated"`)
   * without a write. Throws `stale_lease` if the session has a newer lease, and `wrong_seq` if the log does not end at
   * `expectedSeq`. An expired lease is valid until another owner acquires the session.
   */
  append(lease: Lease, expectedSeq: number, entry: LogEntry): Promise<AppendOutcome>;
  /** The reply to a command appended earlier, also by an earlier process. Undefined for a new command. */
  findReply(sessionId: string, commandId: string): Promise<JsonValue | undefined>;

  /**
   * At most `limit` events after `after`, in order. The result is shorter at the end of the log and before a damaged or
   * missing event; a read that starts at such an event throws `store_damaged`. An event of a newer version is returned
   * as `provider.unknown`.
   */
  read(sessionId: string, after: number, limit: number): Promise<readonly Envelope[]>;
  /**
   * The next events after `after`, for callers which read a whole log. A page is limited in events and in bytes, and
   * the pages read by all callers in one tick of the event loop share this limit; the other callers wait for the next
   * tick. Empty at the end of the log only. Throws `store_damaged` like `read`.
   */
  readPage(sessionId: string, after: number): Promise<readonly Envelope[]>;
  /**
   * The log after `after` for repair tools and reports: damaged, newer and missing events are part of the result.
   * Shorter than `limit` at the end of the log only.
   */
  inspect(sessionId: string, after: number, limit: number): Promise<readonly InspectedEvent[]>;
  /** The current end of a session's log. Undefined if the session does not exist. */
  readHead(sessionId: string): Promise<LogHead | undefined>;
  /**
   * All events after the cursor and every later event, in batches, without gaps or duplicates. A slow reader receives
   * larger batches; no events are queued in memory, because the log has them. Ends with the signal or the store.
   *
   * Without a cursor, or with a cursor at 0, the subscription starts with the oldest stored event. Throws `not_found`
   * if the session does not exist, `cursor_ahead` if the cursor is beyond the log, and `cursor_gone` if the cursor is
   * of another incarnation or events after the cursor were dropped (also while the subscription is running).
   */
  subscribe(
    sessionId: string,
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): AsyncIterable<EventBatch>;
}

/** The right to append to a session. Granted by `LeaseStore`. */
export interface Lease {
  readonly sessionId: string;
  readonly owner: string;
  /** Grows with every lease of the store, for any session. */
  readonly epoch: number;
}

export interface LogHead {
  /** Random per created session: a session that is deleted and created again has another incarnation. */
  readonly incarnation: string;
  /** The number of the last event. 0 for a log without events. */
  readonly seq: number;
  /** No event from here on was dropped. Greater than 1 after retention. */
  readonly firstSeq: number;
}

export interface LogEntry {
  readonly events: readonly Draft[];
  /** The command that caused the events. The reply is stored too, so a retried command has its effect once. */
  readonly command?: { readonly id: string; readonly reply: JsonValue };
  /** Changes to the session index. Absent fields keep their values. */
  readonly index?: SessionFields;
  /** When `claimDue` returns the session. Null clears the time; absent keeps it. */
  readonly wakeAt?: number | null;
  /** True: `append` resolves after the entry is on the disk. */
  readonly sync: boolean;
}

export type AppendOutcome =
  | { readonly status: "appended"; readonly events: readonly Envelope[] }
  | { readonly status: "repeated"; readonly reply: JsonValue };

/** One position of a log, as stored. */
export type InspectedEvent =
  | { readonly status: "readable"; readonly seq: number; readonly envelope: Envelope }
  /** Written by a newer version. The envelope contains the raw event as `provider.unknown`. */
  | {
      readonly status: "newer";
      readonly seq: number;
      readonly envelope: Envelope;
      readonly type: string;
      readonly version: number;
    }
  /** `raw` is the stored text. `type` is null if the store does not know the type. */
  | {
      readonly status: "damaged";
      readonly seq: number;
      readonly type: string | null;
      readonly reason: string;
      readonly raw: string;
    }
  /** `count` events from `seq` to `through` are missing: all of them, or fewer if retention dropped others. */
  | {
      readonly status: "missing";
      readonly seq: number;
      readonly through: number;
      readonly count: number;
    };

export interface EventBatch {
  readonly incarnation: string;
  readonly events: readonly Envelope[];
}
