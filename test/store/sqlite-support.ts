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

/** A store that is closed after the test. */
export async function opened(options: SqliteStoreOptions): Promise<Store> {
  const store = await openSqliteStore(options);
  onTestFinished(() => store.close());
  return store;
}

/** Does to a file what no store would. */
export async function tamper(file: string, work: (database: Database) => void): Promise<void> {
  const { DatabaseSync } = await loadEngine();
  const database = new DatabaseSync(file, { readOnly: false });
  try {
    work(database);
  } finally {
    database.close();
  }
}

/** A row of the log as it stands in a file. */
export interface StoredRow {
  readonly seq: number;
  readonly type: string;
  readonly version: number;
  readonly body: string;
}

/** A file with one session whose log has these rows, whoever may have written them. */
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
