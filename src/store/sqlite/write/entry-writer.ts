import type { AppendOutcome, Lease, LogHead } from "../../log-store.ts";
import type { SessionFields } from "../../session-index.ts";
import { StoreError, createWrongSeqError } from "../../store-error.ts";
import type { EncodedEntry } from "../../encode-entry.ts";
import type { EventKinds } from "../file/event-kinds.ts";
import { findLeasedSession } from "./leases.ts";
import type { UnwrittenSessions } from "./unwritten-sessions.ts";
import { findReplyByKey } from "../file/session-rows.ts";
import type { Sql } from "../file/sql.ts";

/** The result of one entry: written, or refused with a reason that does not affect the other entries. */
export type EntryResult =
  | { readonly ok: true; readonly appended: AppendOutcome; readonly previousHead: LogHead }
  | { readonly ok: false; readonly error: StoreError };

/**
 * The end of a session's log within a transaction. The session's row is written once, at the end of the transaction.
 */
interface LogTail {
  readonly key: number;
  readonly lease: Lease;
  head: LogHead;
  bytes: number;
  updatedAt: number | null;
  /** The `wakeAt` last written here. Undefined if the writer has not written `wakeAt`. */
  wakeAt: number | null | undefined;
  fields: SessionFields;
  /** How much of the row must be written: none, the log position, or all columns. */
  change: "none" | "end" | "all";
}

export class EntryWriter {
  readonly #sql: Sql;
  readonly #kinds: EventKinds;
  readonly #unwritten: UnwrittenSessions;
  /** Log ends known from earlier transactions, which save reading a session's row for each entry. */
  readonly #tails = new Map<string, LogTail>();
  #changed: LogTail[] = [];
  #fileVersion = -1;
  /** The size of the next probe. */
  #probeBytes = PROBE_BYTES;

  constructor(sql: Sql, kinds: EventKinds, unwritten: UnwrittenSessions) {
    this.#sql = sql;
    this.#kinds = kinds;
    this.#unwritten = unwritten;
  }

  /** Writes entries in one transaction. A refused entry changes nothing, and the other entries are still written. */
  write(entries: readonly EncodedEntry[]): readonly EntryResult[] {
    try {
      const written = this.#sql.transaction(() => {
        this.#unwritten.insertRows();
        return this.#writeAll(entries);
      });
      this.#unwritten.clear();
      this.#probeBytes = PROBE_BYTES;
      return written;
    } catch (error) {
      this.clearCache();
      this.#kinds.reload();
      // Until the next success, a probe needs as much space as the failed append.
      const bytes = PROBE_BYTES + entries.reduce((sum, entry) => sum + entry.bytes, 0);
      this.#probeBytes = Math.min(Math.max(this.#probeBytes, bytes), MAX_PROBE_BYTES);
      throw error;
    }
  }

  /**
   * Shows whether an append would succeed. A probe that changes one row in place needs no space and succeeds on a disk
   * too full for any event, so this probe rewrites a blob of several pages. Deleting the blob in the same transaction,
   * or writing equal bytes, would leave its pages unwritten. Call within a transaction; see `recordProbe`.
   */
  writeProbe(): void {
    this.#sql.run(WRITE_PROBE, this.#probeBytes);
  }

  /** Resets the probe size. Call after the transaction of a probe was committed. */
  recordProbe(): void {
    this.#probeBytes = PROBE_BYTES;
  }

  /** Forgets the cached log ends. Must be called after every other write to the file. */
  clearCache(): void {
    this.#tails.clear();
    this.#changed = [];
  }

  #writeAll(entries: readonly EncodedEntry[]): readonly EntryResult[] {
    // `data_version` changes when another process has committed. No other process can commit during this transaction.
    const version = this.#sql.get("PRAGMA data_version")?.number("data_version") ?? -1;
    if (version !== this.#fileVersion || this.#tails.size > MAX_TAILS) this.clearCache();
    this.#fileVersion = version;
    const written = entries.map((entry) => this.#writeOrRefuse(entry));
    for (const tail of this.#changed) this.#writeRow(tail);
    this.#changed = [];
    return written;
  }

  #writeOrRefuse(entry: EncodedEntry): EntryResult {
    try {
      return this.#writeOne(entry);
    } catch (error) {
      if (error instanceof StoreError && REFUSAL_CODES.has(error.code)) return { ok: false, error };
      throw error;
    }
  }

  #writeOne(encoded: EncodedEntry): EntryResult {
    const { lease, expectedSeq, entry, events } = encoded;
    const tail = this.#tailOf(lease);
    const previousHead = tail.head;
    const reply = entry.command && findReplyByKey(this.#sql, tail.key, entry.command.id);
    if (reply !== undefined)
      return { ok: true, appended: { status: "repeated", reply }, previousHead };
    if (previousHead.seq !== expectedSeq)
      throw createWrongSeqError(lease.sessionId, expectedSeq, previousHead.seq);
    this.#insertEvents(tail, encoded);
    this.#writeRest(tail, encoded);
    const envelopes = events.map(({ envelope }) => envelope);
    return { ok: true, appended: { status: "appended", events: envelopes }, previousHead };
  }

  #tailOf(lease: Lease): LogTail {
    const known = this.#tails.get(lease.sessionId);
    if (known?.lease.epoch === lease.epoch && known.lease.owner === lease.owner) return known;
    const { key, head } = findLeasedSession(this.#sql, lease);
    const nothing = { bytes: 0, updatedAt: null, wakeAt: undefined, fields: {} };
    const tail: LogTail = { key, lease, head, ...nothing, change: "none" };
    this.#tails.set(lease.sessionId, tail);
    return tail;
  }

  #insertEvents(tail: LogTail, { events, bytes }: EncodedEntry): void {
    // All kinds are resolved before the first event is inserted: an unknown type refuses the entry, and no event may be
    // left behind.
    const kinds = events.map(({ envelope }) => this.#kinds.resolveId(envelope.event.type));
    const insert = this.#sql.prepare(INSERT);
    for (const [index, { envelope, body, searchableText }] of events.entries()) {
      insert.run(tail.key, envelope.seq, kinds[index] ?? 0, body);
      if (searchableText)
        this.#sql.run("INSERT INTO said (session, text) VALUES (?, ?)", tail.key, searchableText);
    }
    const last = events.at(-1)?.envelope;
    if (last === undefined) return;
    tail.head = { ...tail.head, seq: last.seq };
    tail.updatedAt = last.at;
    tail.bytes += bytes;
    this.#change(tail, "end");
  }

  #writeRest(tail: LogTail, { entry, reply }: EncodedEntry): void {
    const { command, index = {}, wakeAt = tail.wakeAt } = entry;
    if (command !== undefined && reply !== undefined) {
      const keep = "INSERT INTO commands (session, id, reply) VALUES (?, ?, ?)";
      this.#sql.run(keep, tail.key, command.id, reply);
    }
    if (wakeAt === tail.wakeAt && !changesIndex(index, tail.fields)) return;
    tail.wakeAt = wakeAt;
    tail.fields = { ...tail.fields, ...index };
    this.#change(tail, "all");
  }

  #change(tail: LogTail, change: "end" | "all"): void {
    if (tail.change === "none") this.#changed.push(tail);
    if (tail.change !== "all") tail.change = change;
  }

  #writeRow(tail: LogTail): void {
    const { key, head, bytes, updatedAt, wakeAt, fields, change } = tail;
    if (change === "end") this.#sql.run(UPDATE_POSITION, head.seq, bytes, updatedAt, key);
    else {
      const wake = [wakeAt === undefined ? 0 : 1, wakeAt ?? null];
      this.#sql.run(UPDATE_ROW, head.seq, bytes, updatedAt, ...wake, ...toColumns(fields), key);
    }
    tail.bytes = 0;
    tail.change = "none";
  }
}

/** False for most entries: few events change the session index. */
function changesIndex(index: SessionFields, current: SessionFields): boolean {
  return INDEX_FIELDS.some(
    (field) => index[field] !== undefined && index[field] !== current[field],
  );
}

const MAX_TAILS = 1000;
/** The keys of sessions begin at 1, so no session has this blob. */
const WRITE_PROBE = `INSERT INTO blobs (session, id, bytes) VALUES (0, 'probe', randomblob(?))
  ON CONFLICT (session, id) DO UPDATE SET bytes = excluded.bytes`;
/** About the size of a prompt and the start of its invocation. */
const PROBE_BYTES = 16_384;
const MAX_PROBE_BYTES = 16_777_216;
const REFUSAL_CODES: ReadonlySet<string> = new Set(["stale_lease", "wrong_seq", "invalid_option"]);
const INSERT = "INSERT INTO events (session, seq, kind, body) VALUES (?, ?, ?, ?)";
const UPDATE_LOG_END =
  "UPDATE sessions SET seq = ?, bytes = bytes + ?, updated_at = coalesce(?, updated_at)";
const UPDATE_POSITION = `${UPDATE_LOG_END} WHERE key = ?`;
const UPDATE_ROW = `${UPDATE_LOG_END}, wake_at = iif(?, ?, wake_at),
  agent = coalesce(?, agent), principal = coalesce(?, principal),
  title = coalesce(?, title), working_directory = coalesce(?, working_directory),
  state = coalesce(?, state), label = coalesce(?, label), folders = coalesce(?, folders),
  lineage = coalesce(?, lineage)
  WHERE key = ?`;

/** In the order of the parameters of `UPDATE_ROW`. */
const INDEX_FIELDS = [
  "agent",
  "principal",
  "title",
  "workingDirectory",
  "state",
  "label",
  "folders",
  "lineage",
] as const;

function toColumns(fields: SessionFields): readonly (string | null)[] {
  return INDEX_FIELDS.map((field) => {
    const value = fields[field] ?? null;
    return value === null || typeof value === "string" ? value : JSON.stringify(value);
  });
}
