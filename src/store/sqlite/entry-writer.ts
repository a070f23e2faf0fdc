import type { Appended, Head, Lease, SessionFields } from "../store.ts";
import { StoreError, wrongSeq } from "../store-error.ts";
import type { EncodedEntry } from "./encoded-entry.ts";
import type { EventKinds } from "./event-kinds.ts";
import { heldSession } from "./leases.ts";
import type { NewSessions } from "./new-sessions.ts";
import { findReply } from "./session-parts.ts";
import type { Sql } from "./sql.ts";

/** What became of one entry: written, or refused for a reason of its own. */
export type Written =
  | { readonly ok: true; readonly appended: Appended; readonly before: Head }
  | { readonly ok: false; readonly error: StoreError };

/** The end of a session's log as it is within a transaction; its row is written once, at the end of that. */
interface Tail {
  readonly key: number;
  readonly lease: Lease;
  head: Head;
  bytes: number;
  updatedAt: number | null;
  /** What the row says, as far as it was written here: undefined where it was not. */
  wakeAt: number | null | undefined;
  fields: SessionFields;
  /** Its row is to be written: its end alone, or all of it. */
  change: "none" | "end" | "all";
}

export class EntryWriter {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;
  readonly #fresh: NewSessions;
  /** Known from the transactions before, so that a session's row need not be read for every one. */
  readonly #tails = new Map<string, Tail>();
  #changed: Tail[] = [];
  #fileVersion = -1;

  constructor(sql: Sql, kinds: EventKinds, fresh: NewSessions) {
    this.#sql = sql;
    this.#kinds = kinds;
    this.#fresh = fresh;
  }

  /** One transaction. An entry that is refused leaves nothing, and the others are written. */
  write(entries: readonly EncodedEntry[]): readonly Written[] {
    try {
      const written = this.#sql.transaction(() => {
        this.#fresh.write();
        return this.#writeAll(entries);
      });
      this.#fresh.written();
      return written;
    } catch (error) {
      this.forget();
      this.#kinds.forget();
      throw error;
    }
  }

  /** To be called whenever somebody else has written to the file. */
  forget(): void {
    this.#tails.clear();
    this.#changed = [];
  }

  #writeAll(entries: readonly EncodedEntry[]): readonly Written[] {
    // Changes when another process has committed; in a transaction nobody else can.
    const version = this.#sql.get("PRAGMA data_version")?.number("data_version") ?? -1;
    if (version !== this.#fileVersion || this.#tails.size > MOST_TAILS) this.forget();
    this.#fileVersion = version;
    const written = entries.map((entry) => this.#writeOrRefuse(entry));
    for (const tail of this.#changed) this.#writeRow(tail);
    this.#changed = [];
    return written;
  }

  #writeOrRefuse(entry: EncodedEntry): Written {
    try {
      return this.#writeOne(entry);
    } catch (error) {
      if (error instanceof StoreError && REFUSALS.has(error.code)) return { ok: false, error };
      throw error;
    }
  }

  #writeOne(encoded: EncodedEntry): Written {
    const { lease, expectedSeq, entry, events } = encoded;
    const tail = this.#tailOf(lease);
    const before = tail.head;
    const reply = entry.command && findReply(this.#sql, tail.key, entry.command.id);
    if (reply !== undefined) return { ok: true, appended: { status: "repeated", reply }, before };
    if (before.seq !== expectedSeq) throw wrongSeq(lease.sessionId, expectedSeq, before.seq);
    this.#insertEvents(tail, encoded);
    this.#writeRest(tail, encoded);
    const envelopes = events.map(({ envelope }) => envelope);
    return { ok: true, appended: { status: "appended", events: envelopes }, before };
  }

  #tailOf(lease: Lease): Tail {
    const known = this.#tails.get(lease.sessionId);
    if (known?.lease.epoch === lease.epoch && known.lease.owner === lease.owner) return known;
    const { key, head } = heldSession(this.#sql, lease);
    const nothing = { bytes: 0, updatedAt: null, wakeAt: undefined, fields: {} };
    const tail: Tail = { key, lease, head, ...nothing, change: "none" };
    this.#tails.set(lease.sessionId, tail);
    return tail;
  }

  #insertEvents(tail: Tail, { events, bytes }: EncodedEntry): void {
    // All kinds are known before the first event is written: one that is not is a refusal.
    const kinds = events.map(({ envelope }) => this.#kinds.idOf(envelope.event.type));
    const insert = this.#sql.prepared(INSERT);
    for (const [index, { envelope, body, said }] of events.entries()) {
      insert.run(tail.key, envelope.seq, kinds[index] ?? 0, body);
      if (said) this.#sql.run("INSERT INTO said (session, text) VALUES (?, ?)", tail.key, said);
    }
    const last = events.at(-1)?.envelope;
    if (last === undefined) return;
    tail.head = { ...tail.head, seq: last.seq };
    tail.updatedAt = last.at;
    tail.bytes += bytes;
    this.#change(tail, "end");
  }

  #writeRest(tail: Tail, { entry, reply }: EncodedEntry): void {
    const { command, index = {}, wakeAt = tail.wakeAt } = entry;
    if (command !== undefined && reply !== undefined) {
      const keep = "INSERT INTO commands (session, id, reply) VALUES (?, ?, ?)";
      this.#sql.run(keep, tail.key, command.id, reply);
    }
    if (wakeAt === tail.wakeAt && !saysMore(index, tail.fields)) return;
    tail.wakeAt = wakeAt;
    tail.fields = { ...tail.fields, ...index };
    this.#change(tail, "all");
  }

  #change(tail: Tail, change: "end" | "all"): void {
    if (tail.change === "none") this.#changed.push(tail);
    if (tail.change !== "all") tail.change = change;
  }

  #writeRow(tail: Tail): void {
    const { key, head, bytes, updatedAt, wakeAt, fields, change } = tail;
    if (change === "end") this.#sql.run(MOVE, head.seq, bytes, updatedAt, key);
    else {
      const wake = [wakeAt === undefined ? 0 : 1, wakeAt ?? null];
      this.#sql.run(REWRITE, head.seq, bytes, updatedAt, ...wake, ...columnsOf(fields), key);
    }
    tail.bytes = 0;
    tail.change = "none";
  }
}

/** Most events change nothing that the list of sessions shows. */
function saysMore(index: SessionFields, known: SessionFields): boolean {
  return FIELDS.some((field) => index[field] !== undefined && index[field] !== known[field]);
}

const MOST_TAILS = 1000;
const REFUSALS: ReadonlySet<string> = new Set(["stale_lease", "wrong_seq", "invalid_option"]);
const INSERT = "INSERT INTO events (session, seq, kind, body) VALUES (?, ?, ?, ?)";
const END = "UPDATE sessions SET seq = ?, bytes = bytes + ?, updated_at = coalesce(?, updated_at)";
const MOVE = `${END} WHERE key = ?`;
const REWRITE = `${END}, wake_at = iif(?, ?, wake_at),
  agent = coalesce(?, agent), principal = coalesce(?, principal),
  title = coalesce(?, title), working_directory = coalesce(?, working_directory),
  state = coalesce(?, state), label = coalesce(?, label), folders = coalesce(?, folders)
  WHERE key = ?`;

/** In the order of the statement. */
const FIELDS = [
  "agent",
  "principal",
  "title",
  "workingDirectory",
  "state",
  "label",
  "folders",
] as const;

function columnsOf(fields: SessionFields): readonly (string | null)[] {
  return FIELDS.map((field) => {
    const value = fields[field] ?? null;
    return value === null || typeof value === "string" ? value : JSON.stringify(value);
  });
}
