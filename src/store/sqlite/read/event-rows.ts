import type { Draft, Envelope } from "../../../domain/events/envelope.ts";
import { formatThrown } from "../../../domain/errors.ts";
import { isObject } from "../../../data/json.ts";
import {
  isSupportedVersion,
  readStoredEvent,
  type EventVersions,
} from "../../../domain/events/upcast.ts";
import { createEnvelope } from "../../encode-entry.ts";
import type { InspectedEvent, LogHead } from "../../log-store.ts";
import { StoreError } from "../../store-error.ts";
import { MAX_BATCH_BYTES, MAX_BATCH_EVENTS, type SizedEvent } from "./event-batch.ts";
import type { EventKinds } from "../file/event-kinds.ts";
import type { Row, Sql } from "../file/sql.ts";

/** The id of a session and the key of its row. */
export interface SessionKey {
  readonly sessionId: string;
  readonly key: number;
}

/** A session with the end of its log, which must be read before the events. */
export interface LogPosition extends SessionKey {
  readonly head: Pick<LogHead, "seq">;
}

export interface SeqRange {
  readonly after: number;
  /** The last sequence number to read, inclusive. */
  readonly through: number;
}

/** Reads events from the file and detects missing or damaged rows. */
export class EventRows {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;
  readonly #versions: EventVersions;

  constructor(sql: Sql, kinds: EventKinds, versions: EventVersions) {
    this.#sql = sql;
    this.#kinds = kinds;
    this.#versions = versions;
  }

  /**
   * Reads events in order. Stops before a damaged or missing event, and throws `store_damaged` if the first event is
   * damaged or missing.
   */
  read(position: LogPosition, range: SeqRange, limit: number): readonly Envelope[] {
    const { after, through } = range;
    const rows = this.#sql.all(READ_EVENTS, position.key, after, through, limit);
    const events: Envelope[] = [];
    let last = after;
    for (const row of rows) {
      const read = this.#next(position, last, row);
      if (!read.ok && events.length === 0) throw read.error;
      if (!read.ok) return events;
      events.push(read.envelope);
      last = read.envelope.seq;
    }
    if (events.length === 0) this.#expectEnd(position, range);
    return events;
  }

  /**
   * Like `read`, limited to one batch. Large bodies are fetched one at a time, so a large body behind the end of the
   * batch is never read.
   */
  readBatch(position: LogPosition, range: SeqRange): readonly SizedEvent[] {
    const { after, through } = range;
    const batch: SizedEvent[] = [];
    let bytes = 0;
    let last = after;
    for (const row of this.#sql.all(READ_BATCH, position.key, after, through, MAX_BATCH_EVENTS)) {
      const body = row.textOrNull("body") ?? this.#body(position, row.number("seq"));
      const read = this.#next(position, last, row, body);
      if (!read.ok && batch.length === 0) throw read.error;
      if (!read.ok) return batch;
      batch.push({ envelope: read.envelope, size: body.length });
      last = read.envelope.seq;
      bytes += body.length;
      if (bytes >= MAX_BATCH_BYTES) break;
    }
    if (batch.length === 0) this.#expectEnd(position, range);
    return batch;
  }

  /** All stored events in order, including missing ranges and damaged rows. */
  inspect(position: LogPosition, after: number, limit: number): readonly InspectedEvent[] {
    const inspected: InspectedEvent[] = [];
    const lost = after === 0 ? this.#lostBeforeFirst(position) : undefined;
    if (lost !== undefined) inspected.push(lost);
    const { seq: through } = position.head;
    const rows = this.#sql.all(READ_EVENTS, position.key, after, through, limit);
    let last = after;
    for (const row of rows) {
      const seq = row.number("seq");
      const gap = this.#gap(position, last, seq);
      if (gap !== undefined) inspected.push(gap);
      inspected.push(this.#examined(position.sessionId, row));
      last = seq;
    }
    const tail = rows.length < limit ? this.#gap(position, last, through + 1) : undefined;
    return tail === undefined ? inspected : [...inspected, tail];
  }

  #examined(sessionId: string, row: Row): InspectedEvent {
    const seq = row.number("seq");
    const kind = this.#kinds.findKind(row.number("kind"));
    const read = this.#envelope(sessionId, row);
    if (!read.ok) {
      const { reason } = read;
      return { status: "damaged", seq, type: kind?.type ?? null, reason, raw: row.text("body") };
    }
    const { envelope } = read;
    if (kind === undefined || isSupportedVersion(kind, this.#versions))
      return { status: "readable", seq, envelope };
    const { type, version } = kind;
    return { status: "newer", seq, envelope, type, version };
  }

  /**
   * The missing events between two rows. Retention drops events before the session's `first_seq` only. `first_seq` is
   * read after the rows, because another process may drop events at any time.
   */
  #gap({ key }: SessionKey, last: number, next: number): MissingEvents | undefined {
    if (next <= last + 1) return undefined;
    const firstSeq = this.#sql.get(READ_FIRST, key)?.number("first_seq");
    // A session deleted in the meantime has no missing events.
    if (firstSeq === undefined || next <= firstSeq) return undefined;
    const seq = Math.max(last + 1, firstSeq);
    return { status: "missing", seq, through: next - 1, count: next - seq };
  }

  /** Events before `first_seq` that are gone and were not counted by retention. Their sequence numbers are unknown. */
  #lostBeforeFirst({ key }: SessionKey): MissingEvents | undefined {
    const row = this.#sql.get(COUNT_BEFORE_FIRST, key);
    if (row === undefined) return undefined;
    const through = row.number("first_seq") - 1;
    const count = through - row.number("dropped") - row.number("kept");
    return count > 0 ? { status: "missing", seq: 1, through, count } : undefined;
  }

  #expectEnd(position: LogPosition, { after, through }: SeqRange): void {
    const gap = this.#gap(position, after, Math.min(through, position.head.seq) + 1);
    if (gap !== undefined) throw this.#missing(position, gap);
  }

  #missing({ sessionId }: SessionKey, { seq, through }: MissingEvents): StoreError {
    const which =
      seq === through
        ? `Event ${seq} of session ${sessionId} is`
        : `Events ${seq} to ${through} of session ${sessionId} are`;
    const message = `${which} missing in ${this.#sql.file}`;
    return new StoreError("store_damaged", message, { details: { sessionId, seq, through } });
  }

  /** The event of a row if it directly follows `last`, otherwise an error for the gap. */
  #next(position: LogPosition, last: number, row: Row, body?: string): ReadResult {
    const gap = this.#gap(position, last, row.number("seq"));
    if (gap === undefined) return this.#envelope(position.sessionId, row, body);
    return { ok: false, reason: "the event is missing", error: this.#missing(position, gap) };
  }

  #body({ key }: SessionKey, seq: number): string {
    return this.#sql.get(READ_BODY, key, seq)?.text("body") ?? "";
  }

  /** All events of the given kinds. Damaged events are skipped. */
  *readKinds(position: SessionKey, kinds: readonly number[]): Generator<Envelope> {
    const some = `SELECT seq, kind, body FROM events
      WHERE session = ? AND seq > ? AND kind IN (${kinds.join(", ")}) ORDER BY seq LIMIT ?`;
    for (let after = 0, isMore = true; isMore;) {
      const rows = this.#sql.all(some, position.key, after, MAX_ROWS);
      for (const row of rows) {
        const read = this.#envelope(position.sessionId, row);
        if (read.ok) yield read.envelope;
        after = row.number("seq");
      }
      isMore = rows.length === MAX_ROWS;
    }
  }

  #envelope(sessionId: string, row: Row, body = row.text("body")): ReadResult {
    const seq = row.number("seq");
    const kind = this.#kinds.findKind(row.number("kind"));
    if (kind === undefined) return this.#damaged(sessionId, seq, "its type is not listed");
    const draft = readDraft(body);
    if (typeof draft === "string") return this.#damaged(sessionId, seq, draft);
    if (kind.isCurrent && hasCurrentType(draft, kind.type)) {
      return { ok: true, envelope: createEnvelope(sessionId, seq, draft) };
    }
    const event = readStoredEvent({ ...kind, event: draft.event }, this.#versions);
    if (event === undefined)
      return this.#damaged(sessionId, seq, `the event is not a ${kind.type}`);
    return { ok: true, envelope: createEnvelope(sessionId, seq, { ...draft, event }) };
  }

  #damaged(sessionId: string, seq: number, reason: string): ReadResult {
    const message = `Event ${seq} of session ${sessionId} in ${this.#sql.file} cannot be read: ${reason}`;
    const details = { sessionId, seq, through: seq };
    const error = new StoreError("store_damaged", message, { details });
    return { ok: false, reason, error };
  }
}

/** True for nearly all events: an event of the current version needs no upcast. */
function hasCurrentType(draft: StoredDraft, type: string): draft is Draft {
  return isObject(draft.event) && draft.event["type"] === type;
}

type ReadResult =
  | { readonly ok: true; readonly envelope: Envelope }
  | { readonly ok: false; readonly reason: string; readonly error: StoreError };

type MissingEvents = Extract<InspectedEvent, { readonly status: "missing" }>;

const READ_EVENTS = `SELECT seq, kind, body FROM events
  WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;
/**
 * Reading all rows at once is a third faster than stepping through them. Large bodies (over 4,096 bytes) are left out
 * and fetched when their turn comes.
 */
const READ_BATCH = `SELECT seq, kind, iif(octet_length(body) <= 4096, body, NULL) AS body FROM events
  WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;
const READ_FIRST = "SELECT first_seq FROM sessions WHERE key = ?";
const COUNT_BEFORE_FIRST = `SELECT first_seq, dropped,
    (SELECT count(*) FROM events WHERE session = key AND seq < first_seq) AS kept
  FROM sessions WHERE key = ?`;
const READ_BODY = "SELECT body FROM events WHERE session = ? AND seq = ?";
/** Rows per query. */
const MAX_ROWS = 512;

type StoredDraft = Omit<Draft, "event"> & { readonly event: unknown };

/**
 * Parses a stored draft. Returns the reason as a string if the body is invalid. There is no depth limit: `append`
 * accepted the event, so reading must accept it too.
 */
function readDraft(body: string): StoredDraft | string {
  try {
    const value: unknown = JSON.parse(body);
    return isStoredDraft(value) ? value : "the row is not a log event";
  } catch (error) {
    return formatThrown(error);
  }
}

/** Checks only the fields used by the store. The other fields of our own log are trusted. */
function isStoredDraft(value: unknown): value is StoredDraft {
  return (
    isObject(value) &&
    typeof value["at"] === "number" &&
    (value["visibility"] === "public" || value["visibility"] === "internal") &&
    isObject(value["event"])
  );
}
