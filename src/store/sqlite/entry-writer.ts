import type { Appended, Head, Lease, SessionFields } from "../store.ts";
import { StoreError, wrongSeq } from "../store-error.ts";
import type { EncodedEntry } from "./encoded-entry.ts";
import type { EventKinds } from "./event-kinds.ts";
import { heldSession } from "./leases.ts";
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
  isMoved: boolean;
}

export class EntryWriter {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;
  /** Known from the transactions before, so that a session's row need not be read for every one. */
  readonly #tails = new Map<string, Tail>();
  #moved: Tail[] = [];
  #fileVersion = -1;

  constructor(sql: Sql, kinds: EventKinds) {
    this.#sql = sql;
    this.#kinds = kinds;
  }

  /** One transaction. An entry that is refused leaves nothing, and the others are written. */
  write(entries: readonly EncodedEntry[]): readonly Written[] {
    try {
      return this.#sql.transaction(() => this.#writeAll(entries));
    } catch (error) {
      this.forget();
      this.#kinds.forget();
      throw error;
    }
  }

  /** To be called whenever somebody else has written to the file. */
  forget(): void {
    this.#tails.clear();
    this.#moved = [];
  }

  #writeAll(entries: readonly EncodedEntry[]): readonly Written[] {
    // Changes when another process has committed; in a transaction nobody else can.
    const version = this.#sql.get("PRAGMA data_version")?.number("data_version") ?? -1;
    if (version !== this.#fileVersion || this.#tails.size > MOST_TAILS) this.forget();
    this.#fileVersion = version;
    const written = entries.map((entry) => this.#writeOrRefuse(entry));
    for (const tail of this.#moved) {
      this.#sql.run(MOVE, tail.head.seq, tail.bytes, tail.updatedAt, tail.key);
      tail.bytes = 0;
      tail.isMoved = false;
    }
    this.#moved = [];
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
    this.#writeRest(tail.key, encoded);
    const envelopes = events.map(({ envelope }) => envelope);
    return { ok: true, appended: { status: "appended", events: envelopes }, before };
  }

  #tailOf(lease: Lease): Tail {
    const known = this.#tails.get(lease.sessionId);
    if (known?.lease.epoch === lease.epoch && known.lease.owner === lease.owner) return known;
    const { key, head } = heldSession(this.#sql, lease);
    const tail = { key, lease, head, bytes: 0, updatedAt: null, isMoved: false };
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
    if (!tail.isMoved) this.#moved.push(tail);
    tail.isMoved = true;
  }

  #writeRest(key: number, { entry, reply }: EncodedEntry): void {
    const { command, index, wakeAt } = entry;
    if (command !== undefined && reply !== undefined) {
      const keep = "INSERT INTO commands (session, id, reply) VALUES (?, ?, ?)";
      this.#sql.run(keep, key, command.id, reply);
    }
    if (wakeAt !== undefined) {
      this.#sql.run("UPDATE sessions SET wake_at = ? WHERE key = ?", wakeAt, key);
    }
    if (index !== undefined) this.#sql.run(DESCRIBE, ...columnsOf(index), key);
  }
}

const MOST_TAILS = 1000;
const REFUSALS: ReadonlySet<string> = new Set(["stale_lease", "wrong_seq", "invalid_option"]);
const INSERT = "INSERT INTO events (session, seq, kind, body) VALUES (?, ?, ?, ?)";
const MOVE = `UPDATE sessions SET seq = ?, bytes = bytes + ?, updated_at = coalesce(?, updated_at)
  WHERE key = ?`;
const DESCRIBE = `UPDATE sessions SET agent = coalesce(?, agent), principal = coalesce(?, principal),
  title = coalesce(?, title), working_directory = coalesce(?, working_directory),
  state = coalesce(?, state), label = coalesce(?, label) WHERE key = ?`;

function columnsOf(fields: SessionFields): readonly (string | null)[] {
  const { agent, principal, title, workingDirectory, state, label } = fields;
  return [agent, principal, title, workingDirectory, state, label].map((field) => field ?? null);
}
