import { parseJson, isObject, type JsonValue } from "../../../data/json.ts";
import type { SessionLineage } from "../../../domain/workers/session-lineage.ts";
import { randomString } from "../../../platform/random.ts";
import { encodePage, decodePage } from "../../session-query.ts";
import { StoreError, createBlobTakenError, createNoSessionError } from "../../store-error.ts";
import type { LogEntry, LogHead } from "../../log-store.ts";
import type {
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionRunState,
} from "../../session-index.ts";
import type { Snapshot } from "../../snapshot-store.ts";
import type { SessionKey } from "../read/event-rows.ts";
import { createSearchConditions, type SqlCondition } from "./search-index.ts";
import type { Row, Sql } from "./sql.ts";

/** A session with its log end and its lease. */
export interface SessionRow extends SessionKey {
  readonly head: LogHead;
  readonly owner: string | null;
  readonly epoch: number;
  readonly leasedUntil: number;
}

const FIND = `SELECT key, id, incarnation, seq, first_seq, owner, epoch, leased_until
  FROM sessions WHERE id = ?`;

export function findSession(sql: Sql, sessionId: string): SessionRow | undefined {
  const row = sql.get(FIND, sessionId);
  return row === undefined ? undefined : toSessionRow(row);
}

export function insertSession(sql: Sql, sessionId: string, now: number): void {
  sql.run(
    `INSERT INTO sessions (id, incarnation, created_at, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    sessionId,
    randomString(22),
    now,
    now,
  );
}

/** Sessions without a valid lease whose `wake_at` has passed, the longest due first. */
export function findDueSessions(sql: Sql, now: number, limit: number): readonly SessionRow[] {
  const due = `SELECT key, id, incarnation, seq, first_seq, owner, epoch, leased_until FROM sessions
    WHERE wake_at <= ? AND (owner IS NULL OR leased_until <= ?) ORDER BY wake_at LIMIT ?`;
  return sql.all(due, now, now, limit).map(toSessionRow);
}

export interface EventCounts {
  readonly seq: number;
  readonly dropped: number;
  readonly stored: number;
  /** The sequence number of the last stored event. */
  readonly lastSeq: number;
  /** True if every appended event is stored or was dropped by retention. */
  readonly isComplete: boolean;
}

/** Compares the stored events with the counters of the session's row. Scans the whole log: 0.1 ms per 1,000 events. */
export function countEvents(sql: Sql, key: number): EventCounts | undefined {
  const row = sql.get(COUNT, key);
  if (row === undefined) return undefined;
  const [seq, dropped, stored] = [row.number("seq"), row.number("dropped"), row.number("kept")];
  const lastSeq = row.number("last");
  return { seq, dropped, stored, lastSeq, isComplete: stored + dropped === seq && lastSeq <= seq };
}

const COUNT = `SELECT seq, dropped,
    (SELECT count(*) FROM events WHERE session = key) AS kept,
    (SELECT coalesce(max(events.seq), 0) FROM events WHERE session = key) AS last
  FROM sessions WHERE key = ?`;

export function countStored(sql: Sql): { readonly sessions: number; readonly events: number } {
  const row = sql.get(`SELECT (SELECT count(*) FROM sessions WHERE seq > 0) AS sessions,
    (SELECT count(*) FROM events) AS events`);
  return { sessions: row?.number("sessions") ?? 0, events: row?.number("events") ?? 0 };
}

function toSessionRow(row: Row): SessionRow {
  return {
    sessionId: row.text("id"),
    key: row.number("key"),
    head: {
      incarnation: row.text("incarnation"),
      seq: row.number("seq"),
      firstSeq: row.number("first_seq"),
    },
    owner: row.textOrNull("owner"),
    epoch: row.number("epoch"),
    leasedUntil: row.number("leased_until"),
  };
}

export function deleteSession(sql: Sql, key: number): void {
  for (const table of ["events", "commands", "blobs", "snapshots", "said"]) {
    sql.run(`DELETE FROM ${table} WHERE session = ?`, key);
  }
  sql.run("DELETE FROM sessions WHERE key = ?", key);
}

/** Also returns sessions without events, which are not listed. */
export function readRecord(sql: Sql, sessionId: string): SessionRecord | undefined {
  const row = sql.get("SELECT * FROM sessions WHERE id = ?", sessionId);
  return row === undefined ? undefined : toRecord(row);
}

/** The record of a session after an entry is applied. */
export function evolveRecord(
  record: SessionRecord,
  { events, index, wakeAt }: LogEntry,
): SessionRecord {
  return {
    ...record,
    ...index,
    seq: record.seq + events.length,
    updatedAt: events.at(-1)?.at ?? record.updatedAt,
    wakeAt: wakeAt === undefined ? record.wakeAt : wakeAt,
  };
}

export interface ListOptions {
  readonly isIndexed: boolean;
  /** The visible state of a session while its last entries wait for a sync. Undefined if the row itself is visible. */
  readonly findVisibleRecord: (sessionId: string) => SessionRecord | undefined;
}

export function listSessions(
  sql: Sql,
  query: SessionQuery,
  { isIndexed, findVisibleRecord }: ListOptions,
): SessionPage {
  const conditions = createConditions(query, isIndexed);
  const rows = sql.all(
    `SELECT * FROM sessions WHERE ${conditions.map((condition) => condition.sql).join(" AND ")}
     ORDER BY updated_at DESC, id DESC LIMIT ?`,
    ...conditions.flatMap(({ values }) => values),
    query.limit + 1,
  );
  const records = rows.slice(0, query.limit).map(toRecord);
  // The order and the page positions are those of the rows, not of the visible records.
  const last = records.at(-1);
  const sessions = records
    .map((record) => findVisibleRecord(record.sessionId) ?? record)
    .filter(({ seq, state }) => seq > 0 && (query.state === undefined || state === query.state));
  return last !== undefined && rows.length > query.limit
    ? { sessions, nextPage: encodePage(last) }
    : { sessions };
}

function createConditions(query: SessionQuery, indexed: boolean): readonly SqlCondition[] {
  const { page, search = "", principal, agent, workingDirectory, label, state, parent } = query;
  const pageEnd = page === undefined ? undefined : decodePage(page);
  const equal = (column: string, value: string | undefined): readonly SqlCondition[] =>
    value === undefined ? [] : [{ sql: `${column} = ?`, values: [value] }];
  return [
    { sql: "seq > 0", values: [] },
    ...equal("principal", principal),
    ...equal("agent", agent),
    ...equal("working_directory", workingDirectory),
    ...equal("label", label),
    ...(parent === null ? [{ sql: "lineage IS NULL", values: [] }] : []),
    ...equal(`lineage IS NOT NULL AND ${PARENT}`, parent ?? undefined),
    ...(state === undefined ? [] : [STATE_CONDITIONS[state]]),
    ...(pageEnd === undefined
      ? []
      : [{ sql: "(updated_at, id) < (?, ?)", values: [pageEnd.updatedAt, pageEnd.sessionId] }]),
    ...createSearchConditions(search, indexed),
  ];
}

const PARENT = "json_extract(lineage, '$.parentSessionId')";

/** The session and the sessions of its workers at all levels. */
export function listTree(sql: Sql, sessionId: string): readonly SessionRow[] {
  const ids = `WITH RECURSIVE tree(id) AS (
      SELECT ? UNION SELECT sessions.id FROM sessions JOIN tree
        ON lineage IS NOT NULL AND ${PARENT} = tree.id
    ) SELECT id FROM tree`;
  return sql.all(ids, sessionId).flatMap((row) => findSession(sql, row.text("id")) ?? []);
}

/** Literals instead of parameters: SQLite uses a partial index only for a condition that it can compare. */
const STATE_CONDITIONS: { readonly [State in SessionRunState]: SqlCondition } = {
  idle: { sql: "state = 'idle'", values: [] },
  running: { sql: "state = 'running'", values: [] },
  waiting: { sql: "state = 'waiting'", values: [] },
};

function toRecord(row: Row): SessionRecord {
  return {
    sessionId: row.text("id"),
    incarnation: row.text("incarnation"),
    agent: row.text("agent"),
    principal: row.text("principal"),
    state: parseRunState(row.text("state")),
    title: row.textOrNull("title"),
    workingDirectory: row.textOrNull("working_directory"),
    folders: readFolders(row.textOrNull("folders")),
    label: row.textOrNull("label"),
    lineage: readLineage(row.textOrNull("lineage")),
    createdAt: row.number("created_at"),
    updatedAt: row.number("updated_at"),
    seq: row.number("seq"),
    wakeAt: row.numberOrNull("wake_at"),
  };
}

function readFolders(text: string | null): readonly string[] {
  const parsed = parseJson(text ?? "[]");
  const folders: readonly unknown[] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  return folders.map(String);
}

/** A lineage is written by this store only. An invalid one counts as none, so the session stays visible. */
function readLineage(text: string | null): SessionLineage | null {
  const parsed = parseJson(text ?? "null");
  if (!parsed.ok || !isObject(parsed.value)) return null;
  const { parentSessionId, workerId, rootSessionId, depth } = parsed.value;
  const isWhole =
    typeof parentSessionId === "string" &&
    typeof workerId === "string" &&
    typeof rootSessionId === "string" &&
    typeof depth === "number";
  return isWhole ? { parentSessionId, workerId, rootSessionId, depth } : null;
}

function parseRunState(state: string): SessionRunState {
  if (state === "idle" || state === "running" || state === "waiting") return state;
  throw new StoreError(
    "store_damaged",
    `${state} is not a valid session state: expected idle, running or waiting`,
  );
}

export function writeBlob(sql: Sql, sessionId: string, blobId: string, bytes: Uint8Array): void {
  const key = findSession(sql, sessionId)?.key;
  if (key === undefined) throw createNoSessionError(sessionId);
  const existing = readBlob(sql, sessionId, blobId);
  if (existing === undefined) {
    sql.run("INSERT INTO blobs (session, id, bytes) VALUES (?, ?, ?)", key, blobId, bytes);
  } else if (Buffer.compare(existing, bytes) !== 0) throw createBlobTakenError(sessionId, blobId);
}

export function readBlob(sql: Sql, sessionId: string, blobId: string): Uint8Array | undefined {
  const read = `SELECT bytes FROM blobs
    WHERE session = (SELECT key FROM sessions WHERE id = ?) AND id = ?`;
  return sql.get(read, sessionId, blobId)?.bytes("bytes");
}

export function findReply(sql: Sql, sessionId: string, commandId: string): JsonValue | undefined {
  const read = `SELECT reply FROM commands
    WHERE session = (SELECT key FROM sessions WHERE id = ?) AND id = ?`;
  return parseReply(sql.get(read, sessionId, commandId));
}

export function findReplyByKey(sql: Sql, key: number, commandId: string): JsonValue | undefined {
  const read = "SELECT reply FROM commands WHERE session = ? AND id = ?";
  return parseReply(sql.get(read, key, commandId));
}

function parseReply(row: Row | undefined): JsonValue | undefined {
  return row === undefined ? undefined : JSON.parse(row.text("reply"));
}

export function writeSnapshot(sql: Sql, key: number, { version, seq, state }: Snapshot): void {
  const write = "INSERT OR REPLACE INTO snapshots (session, form, seq, state) VALUES (?, ?, ?, ?)";
  sql.run(write, key, version, seq, JSON.stringify(state));
}

export function readSnapshot(sql: Sql, sessionId: string, form: string): Snapshot | undefined {
  const read = `SELECT seq, state FROM snapshots
    WHERE session = (SELECT key FROM sessions WHERE id = ?) AND form = ?`;
  const row = sql.get(read, sessionId, form);
  if (row === undefined) return undefined;
  const state = parseJson(row.text("state"));
  if (state.ok && isObject(state.value)) {
    return { version: form, seq: row.number("seq"), state: state.value };
  }
  throw new StoreError("store_damaged", "The snapshot is not a JSON object", {
    details: { sessionId },
  });
}
