import type { Draft, Envelope } from "../../domain/envelope.ts";
import { thrownMessage } from "../../domain/errors.ts";
import { isObject } from "../../domain/json.ts";
import { readStoredEvent, type EventVersions } from "../../domain/upcast.ts";
import { envelopeOf } from "../envelope-of.ts";
import { StoreError } from "../store-error.ts";
import { MOST_BYTES, MOST_EVENTS, type SizedEvent } from "./batch-of.ts";
import type { EventKinds } from "./event-kinds.ts";
import type { Row } from "./row.ts";
import type { Sql } from "./sql.ts";

/** Where a session is in the file. */
export interface Place {
  readonly sessionId: string;
  readonly key: number;
}

export interface Range {
  readonly after: number;
  /** The last one that may be read. */
  readonly through: number;
}

/** The events of the file, read. */
export class EventRows {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;
  readonly #versions: EventVersions;

  constructor(sql: Sql, kinds: EventKinds, versions: EventVersions) {
    this.#sql = sql;
    this.#kinds = kinds;
    this.#versions = versions;
  }

  /** Stops before a damaged event, and throws when that is the first. */
  read(place: Place, { after, through }: Range, limit: number): readonly Envelope[] {
    const rows = this.#sql.all(READ, place.key, after, through, limit);
    const events: Envelope[] = [];
    for (const row of rows) {
      const read = this.#envelope(place.sessionId, row);
      if (read.ok) events.push(read.envelope);
      else if (events.length > 0) break;
      else throw read.error;
    }
    return events;
  }

  /** The same, as many as are read at once: of those behind the last, no large one is read. */
  batch(place: Place, { after, through }: Range): readonly SizedEvent[] {
    const batch: SizedEvent[] = [];
    let bytes = 0;
    for (const row of this.#sql.all(READ_BATCH, place.key, after, through, MOST_EVENTS)) {
      const body = row.textOrNull("body") ?? this.#body(place, row.number("seq"));
      const read = this.#envelope(place.sessionId, row, body);
      if (!read.ok && batch.length === 0) throw read.error;
      if (!read.ok) break;
      batch.push({ envelope: read.envelope, size: body.length });
      bytes += body.length;
      if (bytes >= MOST_BYTES) break;
    }
    return batch;
  }

  #body({ key }: Place, seq: number): string {
    return this.#sql.get(READ_BODY, key, seq)?.text("body") ?? "";
  }

  /** All events of some kinds; damaged ones are passed over. */
  *ofKinds(place: Place, kinds: readonly number[]): Generator<Envelope> {
    const some = `SELECT seq, kind, body FROM events
      WHERE session = ? AND seq > ? AND kind IN (${kinds.join(", ")}) ORDER BY seq LIMIT ?`;
    for (let after = 0, isMore = true; isMore;) {
      const rows = this.#sql.all(some, place.key, after, MOST_ROWS);
      for (const row of rows) {
        const read = this.#envelope(place.sessionId, row);
        if (read.ok) yield read.envelope;
        after = row.number("seq");
      }
      isMore = rows.length === MOST_ROWS;
    }
  }

  /** What is wrong with events of a session, one sentence each. */
  *problems(place: Place): Generator<string> {
    for (let after = 0, isMore = true; isMore;) {
      const rows = this.#sql.all(READ, place.key, after, Number.MAX_SAFE_INTEGER, MOST_ROWS);
      for (const row of rows) {
        const read = this.#envelope(place.sessionId, row);
        if (!read.ok) yield read.error.message;
        after = row.number("seq");
      }
      isMore = rows.length === MOST_ROWS;
    }
  }

  #envelope(sessionId: string, row: Row, body = row.text("body")): Read {
    const seq = row.number("seq");
    const kind = this.#kinds.kind(row.number("kind"));
    if (kind === undefined) return damaged(sessionId, seq, "its kind is not listed");
    const draft = readDraft(body);
    if (typeof draft === "string") return damaged(sessionId, seq, draft);
    if (kind.isCurrent && isOfType(draft, kind.type)) {
      return { ok: true, envelope: envelopeOf(sessionId, seq, draft) };
    }
    const event = readStoredEvent({ ...kind, event: draft.event }, this.#versions);
    if (event === undefined) return damaged(sessionId, seq, `it is no ${kind.type}`);
    return { ok: true, envelope: envelopeOf(sessionId, seq, { ...draft, event }) };
  }
}

/** Nearly all are of today's version, and have nothing to go through. */
function isOfType(draft: StoredDraft, type: string): draft is Draft {
  return isObject(draft.event) && draft.event["type"] === type;
}

type Read =
  | { readonly ok: true; readonly envelope: Envelope }
  | { readonly ok: false; readonly error: StoreError };

const READ = `SELECT seq, kind, body FROM events
  WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;
/** To step through rows one by one takes a third longer than to have all; so all are read, and large bodies when it is their turn. */
const READ_BATCH = `SELECT seq, kind, iif(octet_length(body) <= 4096, body, NULL) AS body FROM events
  WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`;
const READ_BODY = "SELECT body FROM events WHERE session = ? AND seq = ?";
/** Of rows that are read at once. */
const MOST_ROWS = 512;

type StoredDraft = Omit<Draft, "event"> & { readonly event: unknown };

/** The draft, or what is wrong with it. What was let in at the door is let out, however deep it is nested. */
function readDraft(body: string): StoredDraft | string {
  try {
    const value: unknown = JSON.parse(body);
    return isStoredDraft(value) ? value : "it is no envelope";
  } catch (error) {
    return thrownMessage(error);
  }
}

/** Our own log is believed in what decides nothing; damage shows in what is looked at here. */
function isStoredDraft(value: unknown): value is StoredDraft {
  return (
    isObject(value) &&
    typeof value["at"] === "number" &&
    (value["visibility"] === "public" || value["visibility"] === "internal") &&
    isObject(value["event"])
  );
}

function damaged(sessionId: string, seq: number, why: string): Read {
  const message = `Event ${seq} of session ${sessionId} cannot be read: ${why}`;
  const error = new StoreError("store_damaged", message, { details: { sessionId, seq } });
  return { ok: false, error };
}
