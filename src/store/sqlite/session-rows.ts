import { parseJson } from "../../domain/json.ts";
import { randomText } from "../../platform/random.ts";
import { pageAfter, readPage } from "../session-page.ts";
import type {
  Entry,
  Head,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionState,
} from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { Place } from "./event-rows.ts";
import type { Row } from "./row.ts";
import { searchConditions, type Condition } from "./search-index.ts";
import type { Sql } from "./sql.ts";

/** A session with what decides whether it may be written to. */
export interface Found extends Place {
  readonly head: Head;
  readonly owner: string | null;
  readonly epoch: number;
  readonly leasedUntil: number;
}

const FIND = `SELECT key, id, incarnation, seq, first_seq, owner, epoch, leased_until
  FROM sessions WHERE id = ?`;

export function findSession(sql: Sql, sessionId: string): Found | undefined {
  const row = sql.get(FIND, sessionId);
  return row === undefined ? undefined : readFound(row);
}

export function makeSession(sql: Sql, sessionId: string, now: number): void {
  sql.run(
    `INSERT INTO sessions (id, incarnation, created_at, updated_at) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
    sessionId,
    randomText(22),
    now,
    now,
  );
}

/** Those whose time has come and that nobody has, the longest due first. */
export function findDue(sql: Sql, now: number, limit: number): readonly Found[] {
  const due = `SELECT key, id, incarnation, seq, first_seq, owner, epoch, leased_until FROM sessions
    WHERE wake_at <= ? AND (owner IS NULL OR leased_until <= ?) ORDER BY wake_at LIMIT ?`;
  return sql.all(due, now, now, limit).map(readFound);
}

export interface EventCounts {
  readonly seq: number;
  readonly dropped: number;
  readonly kept: number;
  /** The last event that is stored. */
  readonly last: number;
  /** Every event that was appended is stored, or was dropped by retention. */
  readonly isWhole: boolean;
}

/** Compares the stored events with what the session's row says. Passes over the whole log: 0.1 ms per 1,000 events. */
export function countEvents(sql: Sql, key: number): EventCounts | undefined {
  const row = sql.get(COUNT, key);
  if (row === undefined) return undefined;
  const [seq, dropped, kept] = [row.number("seq"), row.number("dropped"), row.number("kept")];
  const last = row.number("last");
  return { seq, dropped, kept, last, isWhole: kept + dropped === seq && last <= seq };
}

const COUNT = `SELECT seq, dropped,
    (SELECT count(*) FROM events WHERE session = key) AS kept,
    (SELECT coalesce(max(events.seq), 0) FROM events WHERE session = key) AS last
  FROM sessions WHERE key = ?`;

export function storedSize(sql: Sql): { readonly sessions: number; readonly events: number } {
  const row = sql.get(`SELECT (SELECT count(*) FROM sessions WHERE seq > 0) AS sessions,
    (SELECT count(*) FROM events) AS events`);
  return { sessions: row?.number("sessions") ?? 0, events: row?.number("events") ?? 0 };
}

function readFound(row: Row): Found {
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

/** Also of a session without events, which nobody is told of. */
export function readRecord(sql: Sql, sessionId: string): SessionRecord | undefined {
  const row = sql.get("SELECT * FROM sessions WHERE id = ?", sessionId);
  return row === undefined ? undefined : toRecord(row);
}

/** What a session's row is after an entry. */
export function recordAfter(
  record: SessionRecord,
  { events, index, wakeAt }: Entry,
): SessionRecord {
  return {
    ...record,
    ...index,
    seq: record.seq + events.length,
    updatedAt: events.at(-1)?.at ?? record.updatedAt,
    wakeAt: wakeAt === undefined ? record.wakeAt : wakeAt,
  };
}

export interface Listing {
  readonly indexed: boolean;
  /** What may be seen of a session, when that is less than its row says. */
  readonly seen: (sessionId: string) => SessionRecord | undefined;
}

export function listSessions(
  sql: Sql,
  query: SessionQuery,
  { indexed, seen }: Listing,
): SessionPage {
  const conditions = conditionsOf(query, indexed);
  const rows = sql.all(
    `SELECT * FROM sessions WHERE ${conditions.map((one) => one.sql).join(" AND ")}
     ORDER BY updated_at DESC, id DESC LIMIT ?`,
    ...conditions.flatMap(({ values }) => values),
    query.limit + 1,
  );
  const records = rows.slice(0, query.limit).map(toRecord);
  // The order and the pages are those of the rows.
  const last = records.at(-1);
  const sessions = records
    .map((record) => seen(record.sessionId) ?? record)
    .filter(({ seq }) => seq > 0);
  return last !== undefined && rows.length > query.limit
    ? { sessions, nextPage: pageAfter(last) }
    : { sessions };
}

function conditionsOf(query: SessionQuery, indexed: boolean): readonly Condition[] {
  const { page, search = "", principal, agent, workingDirectory, label } = query;
  const end = page === undefined ? undefined : readPage(page);
  const equal = (column: string, value: string | undefined): readonly Condition[] =>
    value === undefined ? [] : [{ sql: `${column} = ?`, values: [value] }];
  return [
    { sql: "seq > 0", values: [] },
    ...equal("principal", principal),
    ...equal("agent", agent),
    ...equal("working_directory", workingDirectory),
    ...equal("label", label),
    ...(end === undefined
      ? []
      : [{ sql: "(updated_at, id) < (?, ?)", values: [end.updatedAt, end.sessionId] }]),
    ...searchConditions(search, indexed),
  ];
}

function toRecord(row: Row): SessionRecord {
  return {
    sessionId: row.text("id"),
    incarnation: row.text("incarnation"),
    agent: row.text("agent"),
    principal: row.text("principal"),
    state: readState(row.text("state")),
    title: row.textOrNull("title"),
    workingDirectory: row.textOrNull("working_directory"),
    folders: readFolders(row.textOrNull("folders")),
    label: row.textOrNull("label"),
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

function readState(state: string): SessionState {
  if (state === "idle" || state === "running" || state === "waiting") return state;
  throw new StoreError("store_damaged", `A session is ${state}, which is no state`);
}
