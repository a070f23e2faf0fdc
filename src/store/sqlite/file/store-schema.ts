import { StoreError } from "../../store-error.ts";
import type { Sql } from "./sql.ts";

/** The schema of a file: its first step creates `oldest`, each further step brings a file to the next version. */
export interface StoreSchema {
  readonly oldest: number;
  /** A released step never changes. */
  readonly steps: readonly string[];
}

/** Versions 1 to 4 were written before 0.1, with other event names or without records. */
const SCHEMA: StoreSchema = {
  oldest: 5,
  steps: [
    `
  CREATE TABLE sessions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    incarnation TEXT NOT NULL,
    seq INTEGER NOT NULL DEFAULT 0,
    first_seq INTEGER NOT NULL DEFAULT 1,
    dropped INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL DEFAULT 0,
    leased_until INTEGER NOT NULL DEFAULT 0,
    wake_at INTEGER,
    agent TEXT NOT NULL DEFAULT '',
    principal TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT 'idle',
    title TEXT,
    working_directory TEXT,
    label TEXT,
    folders TEXT
  );
  CREATE INDEX sessions_by_time ON sessions (updated_at, id);
  CREATE INDEX sessions_by_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;
  CREATE INDEX sessions_by_label ON sessions (label) WHERE label IS NOT NULL;

  CREATE TABLE epochs (last INTEGER NOT NULL);
  INSERT INTO epochs VALUES (0);

  CREATE TABLE kinds (
    id INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (type, version)
  );
  CREATE TABLE events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) WITHOUT ROWID;
  CREATE TABLE commands (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (session, id)
  ) WITHOUT ROWID;
  CREATE TABLE blobs (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (session, id)
  );
  CREATE TABLE snapshots (
    session INTEGER PRIMARY KEY,
    form TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL
  );
  CREATE TABLE said (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, text TEXT NOT NULL);
  CREATE INDEX said_by_session ON said (session);
  CREATE TABLE records (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at INTEGER,
    UNIQUE (scope, key)
  );
  CREATE INDEX records_by_expiry ON records (expires_at) WHERE expires_at IS NOT NULL;
  `,
    `CREATE INDEX sessions_waiting ON sessions (updated_at, id) WHERE state = 'waiting';`,
    `
  ALTER TABLE sessions ADD COLUMN lineage TEXT;
  CREATE INDEX sessions_by_parent ON sessions (json_extract(lineage, '$.parentSessionId'))
    WHERE lineage IS NOT NULL;
  CREATE INDEX sessions_by_root ON sessions (json_extract(lineage, '$.rootSessionId'))
    WHERE lineage IS NOT NULL;
  `,
  ],
};

/** The bytes of "Span". Identifies a database file as ours. */
const APPLICATION_ID = 0x5370616e;

/** Brings a file to the current version, completely or not at all. */
export function migrate(sql: Sql, file: string, schema: StoreSchema = SCHEMA): void {
  const version = readVersion(sql, file, schema);
  const newest = newestVersion(schema);
  if (version === newest) return;
  const done = version === 0 ? 0 : version - schema.oldest + 1;
  sql.transaction(() => {
    for (const step of schema.steps.slice(done)) sql.exec(step);
    sql.exec(`PRAGMA user_version = ${newest}; PRAGMA application_id = ${APPLICATION_ID}`);
  });
}

/** Throws if this version cannot write the file, before any change to the file. */
export function checkWritableVersion(sql: Sql, file: string): void {
  readVersion(sql, file, SCHEMA);
}

/** Throws if the file needs a migration first: a read-only store never changes its file. */
export function checkReadableVersion(sql: Sql, file: string): void {
  const version = readVersion(sql, file, SCHEMA);
  const newest = newestVersion(SCHEMA);
  if (version === newest) return;
  const message = `${file} has schema version ${version}, and this Spanline reads version ${newest}. Fix: open the store for writing once to migrate the file`;
  throw new StoreError("store_failed", message, { details: { file, version } });
}

function newestVersion({ oldest, steps }: StoreSchema): number {
  return oldest + steps.length - 1;
}

/**
 * The schema version of the file. 0 for an empty database. Throws if the file belongs to another application, is too
 * new or is too old.
 */
function readVersion(sql: Sql, file: string, schema: StoreSchema): number {
  const application = sql.get("PRAGMA application_id")?.number("application_id");
  const version = sql.get("PRAGMA user_version")?.number("user_version") ?? 0;
  const tables = sql.get("SELECT count(*) AS tables FROM sqlite_schema")?.number("tables");
  if (tables === 0 && version === 0) return 0;
  if (application !== APPLICATION_ID) {
    throw new StoreError(
      "store_failed",
      `${file} is not a Spanline store: another application created this database`,
      {
        details: { file },
      },
    );
  }
  const newest = newestVersion(schema);
  if (version > newest) {
    const message = `${file} has schema version ${version}, and this Spanline supports versions up to ${newest}. Fix: update Spanline`;
    throw new StoreError("store_newer", message, { details: { file, version } });
  }
  if (version < schema.oldest) {
    const message = `${file} was written by an unreleased Spanline (version ${version}) and cannot be read. Fix: use another data directory, or move this one away`;
    throw new StoreError("store_failed", message, { details: { file, version } });
  }
  return version;
}
