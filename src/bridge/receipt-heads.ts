import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import type { LastReceipt } from "../domain/events/receipt.ts";
import {
  countMissingReceipts,
  type ReceiptHead,
  type ReceiptHeads,
} from "../session/runtime/log/receipt-head.ts";
import { loadEngine, type Database, type Engine } from "../store/sqlite/file/engine.ts";

export interface OpenReceiptHeads extends ReceiptHeads {
  close(): void;
}

/**
 * Opens the receipt heads saved by this process, in a database next to the signing keys. The database is opened at
 * first use. A failure to save or read a head is reported and does not stop a session; without the head, a truncated
 * log is not detected.
 */
export async function openReceiptHeads(
  directory: string,
  report: (error: unknown) => void,
): Promise<OpenReceiptHeads> {
  const engine = await loadEngine();
  let opened: Writer | undefined;
  let isBroken = false;
  const attempt = <Value>(work: (writer: Writer) => Value): Value | undefined => {
    if (isBroken) return undefined;
    try {
      opened ??= openWriter(engine, headsFile(directory));
      return work(opened);
    } catch (cause) {
      // Without a database, every later attempt would fail, too.
      isBroken = opened === undefined;
      report(new Error(`The last receipts cannot be recorded in ${directory}`, { cause }));
      return undefined;
    }
  };
  return {
    read: (chain) => attempt(({ read }) => read(chain)),
    save: (incarnation, last) => attempt(({ save }) => save(incarnation, last)),
    close() {
      isBroken = true;
      opened?.close();
    },
  };
}

/**
 * Reads the current heads for a comparison with a log that is read afterwards. Heads saved meanwhile by a running
 * bridge are invisible, because the log may be read without their receipts.
 */
export async function readReceiptHeads(directory: string): Promise<RecordedHeads> {
  const file = headsFile(directory);
  if (!existsSync(file)) return { missingAfter: () => 0, close: () => undefined };
  const engine = await loadEngine();
  try {
    const database = new engine.DatabaseSync(file, { readOnly: true });
    const read = createReader(database);
    return {
      missingAfter: (incarnation, last) =>
        countMissingReceipts(last, read({ incarnation, firstMac: last.first })),
      close: () => database.close(),
    };
  } catch (cause) {
    const message = `${file} cannot be read, so it is unknown whether the log is complete`;
    throw new SpanlineError("store_damaged", message, { details: { path: file }, cause });
  }
}

/**
 * The first read starts a transaction, so all later reads see the same state. The table is missing if a process was
 * killed before creating it.
 */
function createReader(database: Database): ReceiptHeads["read"] {
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; BEGIN`);
  const table = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'heads'").get();
  return table === undefined ? () => undefined : reader(database);
}

export interface RecordedHeads {
  /** Counts the receipts missing at the end of a log with `last` as its last receipt. */
  missingAfter(incarnation: string, last: LastReceipt): number;
  close(): void;
}

function headsFile(directory: string): string {
  return join(directory, "keys", "receipt-heads.db");
}

type Writer = OpenReceiptHeads;

function openWriter({ DatabaseSync }: Engine, file: string): Writer {
  // SQLite would create a file that other users can read.
  closeSync(openSync(file, "a", 0o600));
  const database = new DatabaseSync(file, { readOnly: false });
  database.exec(SCHEMA);
  const insert = database.prepare(SAVE);
  const prune = database.prepare(PRUNE);
  let saves = 0;
  return {
    read: reader(database),
    save(incarnation, { first, number, mac }) {
      if (saves % SAVES_PER_PRUNE === 0) prune.run();
      saves += 1;
      insert.run(first, incarnation, number, mac);
    },
    close: () => database.close(),
  };
}

function reader(database: Database): ReceiptHeads["read"] {
  const byFirst = database.prepare("SELECT number, mac FROM heads WHERE first = ?");
  const byLog = database.prepare(
    "SELECT number, mac FROM heads WHERE incarnation = ? ORDER BY number DESC LIMIT 1",
  );
  return ({ firstMac, incarnation }) => {
    const row = firstMac === null ? byLog.get(incarnation) : byFirst.get(firstMac);
    return isHead(row) ? row : undefined;
  };
}

function isHead(row: unknown): row is ReceiptHead {
  if (typeof row !== "object" || row === null || !("number" in row) || !("mac" in row))
    return false;
  return typeof row.number === "number" && typeof row.mac === "string";
}

/** Milliseconds. Limit for waiting while another process saves. */
const BUSY_MS = 1000;
/** About 15 MB. Heads of deleted sessions are dropped only by this limit, oldest chains first. */
const MAX_HEADS = 100_000;
const SAVES_PER_PRUNE = 1000;

/** Only checkpoints are synced: after a power failure a lost head is merely behind its log. */
const SCHEMA = `PRAGMA busy_timeout = ${BUSY_MS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS heads (
    id INTEGER PRIMARY KEY,
    first TEXT NOT NULL UNIQUE,
    incarnation TEXT NOT NULL,
    number INTEGER NOT NULL,
    mac TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS heads_by_log ON heads (incarnation)`;

const SAVE = `INSERT INTO heads (first, incarnation, number, mac) VALUES (?, ?, ?, ?)
  ON CONFLICT (first) DO UPDATE SET number = excluded.number, mac = excluded.mac
  WHERE excluded.number >= heads.number`;

const PRUNE = `DELETE FROM heads WHERE id <= (SELECT max(id) FROM heads) - ${MAX_HEADS}`;
