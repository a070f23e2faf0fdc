import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { loadEngine, type Database } from "../../src/store/sqlite/file/engine.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function temporaryFile(): string {
  return join(temporaryFolder(), "store.db");
}

/** Opens a store and closes it after the test. */
export async function opened(options: SqliteStoreOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}

/** Changes a store file with raw SQL. */
export async function tamper(file: string, work: (database: Database) => void): Promise<void> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(file, { readOnly: false });
  try {
    work(database);
  } finally {
    database.close();
  }
}

/** A row of the event table. */
export interface StoredRow {
  readonly seq: number;
  readonly type: string;
  readonly version: number;
  readonly body: string;
}

/** Creates a file with a session whose log has the given rows, of any version. */
export async function fileWithLog(sessionId: string, rows: readonly StoredRow[]): Promise<string> {
  const file = temporaryFile();
  const store = await openSqliteStore({ file });
  const { lease } = await store.acquire(sessionId, { owner: "me", now: 0, durationMs: 1 });
  await store.release(lease);
  await store.close();
  await tamper(file, (database) => {
    const kind = database.prepare("INSERT OR IGNORE INTO kinds (type, version) VALUES (?, ?)");
    const event = database.prepare(`INSERT INTO events (session, seq, kind, body)
      VALUES (1, ?, (SELECT id FROM kinds WHERE type = ? AND version = ?), ?)`);
    for (const { seq, type, version, body } of rows) {
      kind.run(type, version);
      event.run(seq, type, version, body);
    }
    database.prepare("UPDATE sessions SET seq = ?").run(rows.length);
  });
  return file;
}
