import type { Cursor, Draft, Envelope } from "../domain/events/envelope.ts";
import type { JsonObject, JsonValue } from "../data/json.ts";

/**
 * The log of every session, and what has to be as durable as it. Every store passes `test/contracts/store-contract.ts`.
 *
 * Order exists within a session only. What `append` has said is kept when this process is killed; what it was told to
 * sync is kept when the machine loses its power. Nobody reads an event before that, nor what it changed about its
 * session; only a store that reads beside another process cannot know, and may read a little more. Events, replies and
 * states are JSON: what JSON cannot say is not kept.
 *
 * Refusals are `StoreError`s; their codes stand beside each method.
 */
export interface Store {
  /**
   * Makes `owner` the one that may write to a session, for `forMs`; makes the session when there is none. Whoever had it
   * before is fenced off: only the newest lease can append. Refused while another owner's lease runs, unless `takeOver`
   * (`lease_held`), when the log holds what only a newer version understands (`store_newer`), and when events of it are
   * missing (`store_damaged`): such a session can only be read.
   */
  acquire(sessionId: string, options: AcquireOptions): Promise<AcquiredLease>;
  /** False when the lease is no longer the newest, or was released. */
  renew(lease: Lease, now: number, forMs: number): Promise<boolean>;
  /** An older lease that is released changes nothing. */
  release(lease: Lease): Promise<void>;

  /**
   * All of it or nothing. A command that was appended before gives the reply that it got then, and nothing is written;
   * an old lease (`stale_lease`) or a wrong `expectedSeq` (`wrong_seq`) is refused, and nothing is written. A lease that
   * ran out still counts while nobody has taken the session.
   */
  append(lease: Lease, expectedSeq: number, entry: LogEntry): Promise<AppendOutcome>;
  /** The reply that a command got, also across restarts. */
  findReply(sessionId: string, commandId: string): Promise<JsonValue | undefined>;

  /**
   * Events after `after`, in order; fewer than `limit` only at the end or before a damaged or missing one, which then is
   * refused (`store_damaged`). What a newer version wrote comes as `provider.unknown`.
   */
  read(sessionId: string, after: number, limit: number): Promise<readonly Envelope[]>;
  /**
   * The next events after `after`, for whoever reads a log to its end: as many as are read in one turn of the loop, which
   * is everybody's, bounded in number and in size. All who ask in one turn have no more than that together; the others
   * wait for the next. Empty only at the end; a damaged event is refused as by `read`.
   */
  readPage(sessionId: string, after: number): Promise<readonly Envelope[]>;
  /**
   * The log after `after` for tools that repair or report it: damaged, newer and missing events are part of the result
   * and do not end it. Shorter than `limit` only at the end.
   */
  inspect(sessionId: string, after: number, limit: number): Promise<readonly InspectedEvent[]>;
  /** Where a session's log is now; undefined when there is none. */
  readHead(sessionId: string): Promise<LogHead | undefined>;
  /**
   * Everything after the cursor, and then whatever comes, in batches without gaps or repetitions. A reader that is
   * slow gets larger batches, never a queue: what it has not taken stays in the log. Ends with the signal or the store.
   *
   * Without a cursor, or at 0, it is all that is kept. Refused: no such session (`not_found`), a cursor beyond the log
   * (`cursor_ahead`), of another incarnation, or with dropped events behind it (`cursor_gone`; also while reading).
   */
  subscribe(
    sessionId: string,
    cursor: Cursor | undefined,
    signal: AbortSignal,
  ): AsyncIterable<EventBatch>;

  /** Sessions whose `wakeAt` has come and that nobody owns, leased to the caller. */
  claimDue(now: number, options: ClaimOptions): Promise<readonly AcquiredLease[]>;

  /** Those with events, the newest first. */
  listSessions(query: SessionQuery): Promise<SessionPage>;
  findSession(sessionId: string): Promise<SessionRecord | undefined>;
  /** The session, its events, replies, blobs and snapshots; false when there is none. Its owner is fenced off. */
  deleteSession(sessionId: string): Promise<boolean>;

  /** Kept under an id of the caller's, once: other bytes under the same id are refused (`blob_taken`). */
  putBlob(sessionId: string, blobId: string, bytes: Uint8Array): Promise<void>;
  readBlob(sessionId: string, blobId: string): Promise<Uint8Array | undefined>;

  /** A state at a place in the log, to be thrown away whenever its form is not the reader's. The last one counts. */
  saveSnapshot(lease: Lease, snapshot: Snapshot): Promise<void>;
  /** One that cannot be read is refused (`store_damaged`); the log has all that it had. */
  readSnapshot(sessionId: string, form: string): Promise<Snapshot | undefined>;

  /**
   * Drops the deltas of blocks that have ended, then whole sessions, until the rules hold. A session that somebody owns
   * or reads, that is not idle, or that wants to be woken is left as it is.
   */
  applyRetention(rules: RetentionRules): Promise<RetentionResult>;
  /** Examines the whole store: missing and unreadable events, damage of the file. One sentence per problem. */
  checkIntegrity(): Promise<readonly string[]>;
  /**
   * Writes and syncs as an append does, without an event. After an append that failed, as many bytes as that one had.
   * Rejects with the reason.
   */
  probe(): Promise<void>;
  /** How much is stored. */
  measureSize(): Promise<{ readonly sessions: number; readonly events: number }>;
  close(): Promise<void>;
}

export interface AcquireOptions {
  readonly owner: string;
  readonly now: number;
  readonly durationMs: number;
  readonly takeOver?: boolean;
}

export interface Lease {
  readonly sessionId: string;
  readonly owner: string;
  /** Grows with every lease that the store gives, of whatever session. */
  readonly epoch: number;
}

export interface AcquiredLease {
  readonly lease: Lease;
  readonly head: LogHead;
  /** The owner before never released it. */
  readonly wasAbandoned: boolean;
}

export interface LogHead {
  readonly incarnation: string;
  /** 0 for a log without events. */
  readonly seq: number;
  /** From here on nothing was dropped: more than 1 after retention. */
  readonly firstSeq: number;
}

export interface LogEntry {
  readonly events: readonly Draft[];
  /** With its reply, a command that is retried has its effect once. */
  readonly command?: { readonly id: string; readonly reply: JsonValue };
  /** What the list of sessions shows from now on; only the named fields change. */
  readonly index?: SessionFields;
  /** When the session wants to be woken though nobody talks to it; null takes that back. */
  readonly wakeAt?: number | null;
  /** Resolves only when it is on the disk. */
  readonly sync: boolean;
}

export type AppendOutcome =
  | { readonly status: "appended"; readonly events: readonly Envelope[] }
  | { readonly status: "repeated"; readonly reply: JsonValue };

/** One place of a log, as it is stored. */
export type InspectedEvent =
  | { readonly status: "readable"; readonly seq: number; readonly envelope: Envelope }
  /** Written by a newer version; the envelope carries the event raw, as `provider.unknown`. */
  | {
      readonly status: "newer";
      readonly seq: number;
      readonly envelope: Envelope;
      readonly type: string;
      readonly version: number;
    }
  /** `raw` is the stored text; `type` is null if the file does not say. */
  | {
      readonly status: "damaged";
      readonly seq: number;
      readonly type: string | null;
      readonly reason: string;
      readonly raw: string;
    }
  /** `count` events between `seq` and `through` are missing: all of them, or fewer where retention dropped others. */
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

export interface ClaimOptions {
  readonly owner: string;
  readonly durationMs: number;
  readonly limit: number;
}

export interface SessionFields {
  readonly agent?: string;
  readonly principal?: string;
  readonly title?: string;
  readonly workingDirectory?: string;
  /** That belong to the workspace beside it. */
  readonly folders?: readonly string[];
  /** A word of whoever opened it. */
  readonly label?: string;
  readonly state?: SessionRunState;
}

export type SessionRunState = "idle" | "running" | "waiting";

export interface SessionRecord extends Required<
  Omit<SessionFields, "title" | "workingDirectory" | "label">
> {
  readonly sessionId: string;
  readonly incarnation: string;
  readonly title: string | null;
  readonly workingDirectory: string | null;
  readonly label: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly seq: number;
  readonly wakeAt: number | null;
}

export interface SessionQuery {
  readonly limit: number;
  /** From the page before. */
  readonly page?: string;
  /** Words, each of which occurs in the title, the id or what was said. */
  readonly search?: string;
  readonly principal?: string;
  readonly agent?: string;
  readonly workingDirectory?: string;
  readonly label?: string;
}

export interface SessionPage {
  readonly sessions: readonly SessionRecord[];
  readonly nextPage?: string;
}

export interface Snapshot {
  /** The name of the state's form; a reader of another form does not see it. */
  readonly version: string;
  readonly seq: number;
  readonly state: JsonObject;
}

export interface RetentionRules {
  readonly now: number;
  /** Sessions without an event since then are deleted. */
  readonly inactiveSince?: number;
  /** The most bytes that all events may have; the oldest sessions go first. */
  readonly maxBytes?: number;
  /** Whose leases count also when they ran out: a machine that slept has renewed none. */
  readonly owner?: string;
}

export interface RetentionResult {
  readonly deletedSessions: number;
  readonly droppedEvents: number;
  /** What all events have now: above `maxBytes` when the rest is in use. */
  readonly bytes: number;
}
