import { StoreError } from "../../store-error.ts";
import type { Sql } from "./sql.ts";

/** Each step brings a file from the version of its place to the next. A step that was released never changes. */
const MIGRATIONS: readonly string[] = [
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
    working_directory TEXT
  );
  CREATE INDEX sessions_by_time ON sessions (updated_at, id);
  CREATE INDEX sessions_by_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;

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
  `,
  `
  ALTER TABLE sessions ADD COLUMN label TEXT;
  CREATE INDEX sessions_by_label ON sessions (label) WHERE label IS NOT NULL;
  `,
  "ALTER TABLE sessions ADD COLUMN folders TEXT;",
];

/** "Span" in bytes: tells our files from those of others. */
const APPLICATION_ID = 0x5370616e;

/** Brings a file to today's version, all of the way or not at all. */
export function migrate(sql: Sql, file: string, migrations: readonly string[] = MIGRATIONS): void {
  const version = readVersion(sql, file, migrations.length);
  if (version === migrations.length) return;
  sql.transaction(() => {
    for (const step of migrations.slice(version)) sql.exec(step);
    sql.exec(
      `PRAGMA user_version = ${migrations.length}; PRAGMA application_id = ${APPLICATION_ID}`,
    );
  });
}

/** Refuses a file that this version cannot write to, before anything about it is changed. */
export function checkWritableVersion(sql: Sql, file: string): void {
  readVersion(sql, file, MIGRATIONS.length);
}

/** A file that is only read stays as it is, so it has to be of today's version. */
export function checkReadableVersion(sql: Sql, file: string): void {
  const version = readVersion(sql, file, MIGRATIONS.length);
  if (version === MIGRATIONS.length) return;
  const message = `${file} is of version ${version}, and becomes ${MIGRATIONS.length} when it is opened for writing`;
  throw new StoreError("store_failed", message, { details: { file, version } });
}

function readVersion(sql: Sql, file: string, newestVersion: number): number {
  const application = sql.get("PRAGMA application_id")?.number("application_id");
  const version = sql.get("PRAGMA user_version")?.number("user_version") ?? 0;
  const tables = sql.get("SELECT count(*) AS tables FROM sqlite_schema")?.number("tables");
  if (tables === 0 && version === 0) return 0;
  if (application !== APPLICATION_ID) {
    throw new StoreError("store_failed", `${file} is a database, but not one of Spanline's`, {
      details: { file },
    });
  }
  if (version > newestVersion) {
    const message = `${file} is of version ${version}; this Spanline knows versions up to ${newestVersion}`;
    throw new StoreError("store_newer", message, { details: { file, version } });
  }
  return version;
}
