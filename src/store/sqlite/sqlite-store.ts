import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { EVENT_VERSIONS, type EventVersions } from "../../domain/events/upcast.ts";
import { systemClock, type Clock } from "../../platform/clock.ts";
import {
  makeFolder,
  restrictToOwner,
  createPrivateFile,
} from "../../platform/files/private-files.ts";
import { createChangeNotifier } from "../subscribe-to-log.ts";
import type { Store, StoreWriter } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { loadEngine, type Engine } from "./file/engine.ts";
import { EventKinds } from "./file/event-kinds.ts";
import { EventRows } from "./read/event-rows.ts";
import { RecordRows } from "./file/record-rows.ts";
import { FileWatcher } from "./file/file-watcher.ts";
import { GroupSync, openWalFile, type SyncFileData, type WalFile } from "./write/group-sync.ts";
import { LiveSessions } from "./read/live-sessions.ts";
import { UnwrittenSessions } from "./write/unwritten-sessions.ts";
import { createStoreReader, type StoreOverlay } from "./read/store-reader.ts";
import { checkReadableVersion, checkWritableVersion, migrate } from "./file/store-schema.ts";
import { hasFullText, maintainSearchIndex } from "./file/search-index.ts";
import { withStoreErrors, Sql } from "./file/sql.ts";
import { createStoreWriter } from "./write/store-writer.ts";

export interface SqliteStoreOptions {
  readonly file: string;
  /** Beside a process that writes; nothing in the file or its locks changes. */
  readonly readOnly?: boolean;
  readonly clock?: Clock;
  /** How commits are brought to the disk. */
  readonly datasync?: SyncFileData;
  /** Told when the disk failed: from then on everything is refused, and only opening the file again helps. */
  readonly onFailure?: (error: StoreError) => void;
  readonly versions?: EventVersions;
  /** `plain` looks through every text, as an engine without FTS5 has to. */
  readonly search?: "full-text" | "plain";
  /** False: a missing file is an error (`store_failed`). Default: it is created, with its folder. */
  readonly create?: boolean;
}

/** One file, written by one process. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, readOnly = false, create = true } = options;
  const { DatabaseSync } = await loadEngine();
  checkNotEmpty(file);
  if (!readOnly && !existsSync(file)) {
    if (!create) throw new StoreError("store_failed", `${file} was removed`, { details: { file } });
    await createFile(file, DatabaseSync);
  }
  if (!readOnly) restrictPermissions(file);
  const sql = new Sql(
    withStoreErrors(file, () => new DatabaseSync(file, { readOnly })),
    file,
  );
  try {
    sql.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return readOnly ? openForReading(sql, options) : await openForWriting(sql, options);
  } catch (error) {
    sql.close();
    throw error;
  }
}

/** SQLite treats an empty file as a new database, so a log that was cut to nothing would be started over. */
function checkNotEmpty(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size !== 0) return;
  const message = `${file} is empty (0 bytes), so the sessions that it held are lost. Fix: restore it from a copy, or remove it to start without sessions`;
  throw new StoreError("store_damaged", message, { details: { file } });
}

/**
 * Creates a missing database under another name and renames it when it is complete: a process that is killed in between
 * does not leave an empty file.
 */
async function createFile(file: string, DatabaseSync: Engine["DatabaseSync"]): Promise<void> {
  await makeFolder(dirname(file));
  const draft = `${file}.new`;
  for (const temporaryFile of ["", "-journal"]) rmSync(`${draft}${temporaryFile}`, { force: true });
  createPrivateFile(draft);
  const sql = new Sql(
    withStoreErrors(draft, () => new DatabaseSync(draft, { readOnly: false })),
    draft,
  );
  try {
    // Has to be set before the first table is made.
    sql.exec("PRAGMA auto_vacuum = INCREMENTAL");
    migrate(sql, draft);
  } finally {
    sql.close();
  }
  renameSync(draft, file);
}

/** SQLite gives the files beside it the rights that it has. */
function restrictPermissions(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) restrictToOwner(`${file}${suffix}`);
}

function openForReading(sql: Sql, options: SqliteStoreOptions): Store {
  const { file, clock = systemClock, versions = EVENT_VERSIONS } = options;
  checkReadableVersion(sql, file);
  const notifier = createChangeNotifier();
  const changes = new FileWatcher(sql, notifier, clock);
  const rows = new EventRows(sql, new EventKinds(sql, versions), versions);
  const overlay: StoreOverlay = {
    readHead: returnUndefined,
    readRecord: returnUndefined,
    readRecent: returnUndefined,
    eventCache: undefined,
    addReader: () => changes.addFollower(),
  };
  return {
    ...createStoreReader({ sql, rows, records: new RecordRows(sql, clock), notifier, overlay }),
    ...createReadOnlyStore(file),
    async close() {
      if (notifier.isClosed) return;
      notifier.close();
      sql.close();
    },
  };
}

async function openForWriting(sql: Sql, options: SqliteStoreOptions): Promise<Store> {
  const { file, clock = systemClock, versions = EVENT_VERSIONS, search = "full-text" } = options;
  checkWritableVersion(sql, file);
  configureDatabase(sql, file);
  migrate(sql, file);
  maintainSearchIndex(sql, search === "full-text" && hasFullText(sql));
  const { datasync = (wal) => wal.datasync() } = options;
  const wal = await openWalFile(file, datasync);
  const sync = new GroupSync(() => wal.sync(), options.onFailure);
  try {
    // What a killed process left in the system's memory is read as written, so it has to be.
    await sync.syncNow();
    return createWritableStore(sql, { versions, clock, wal, sync });
  } catch (error) {
    await wal.close();
    throw error;
  }
}

interface WritableParts {
  readonly versions: EventVersions;
  readonly clock: Clock;
  readonly wal: WalFile;
  readonly sync: GroupSync;
}

function createWritableStore(sql: Sql, { versions, clock, wal, sync }: WritableParts): Store {
  const bell = createChangeNotifier();
  const kinds = new EventKinds(sql, versions);
  const rows = new EventRows(sql, kinds, versions);
  const records = new RecordRows(sql, clock);
  const unwrittenSessions = new UnwrittenSessions(sql);
  const liveSessions = new LiveSessions(unwrittenSessions);
  const { ino } = statSync(sql.file);
  const isInPlace = (): boolean => statSync(sql.file, { throwIfNoEntry: false })?.ino === ino;
  const close = async (): Promise<void> => {
    await wal.close();
    checkpointWal(sql);
    sql.close();
  };
  return {
    ...createStoreReader({ sql, rows, records, notifier: bell, overlay: liveSessions }),
    ...createStoreWriter({
      sql,
      kinds,
      rows,
      records,
      notifier: bell,
      liveSessions,
      unwrittenSessions,
      sync,
      isInPlace,
      close,
    }),
  };
}

/** An engine may stay in another journal mode without an error, so it is asked. */
function configureDatabase(sql: Sql, file: string): void {
  const mode = sql.get("PRAGMA journal_mode = WAL")?.text("journal_mode");
  if (mode !== "wal") {
    throw new StoreError("store_failed", `${file} cannot have a write-ahead log here`, {
      details: { file, mode },
    });
  }
  sql.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

/**
 * The twin of `node:sqlite` closes a file only when the last statement is collected, and leaves this undone. Where it
 * fails nothing is lost: the next to open the file finds the log beside it.
 */
function checkpointWal(sql: Sql): void {
  try {
    sql.all("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    return;
  }
}

const BUSY_TIMEOUT_MS = 2000;
/** 16 MB. A page that was changed often is copied once: a seventh less work than with SQLite's 1000. */
const CHECKPOINT_PAGES = 4000;

function returnUndefined(): undefined {}

function createReadOnlyStore(file: string): Omit<StoreWriter, "close"> {
  const refuse = async (): Promise<never> => {
    throw new StoreError("store_failed", `${file} was opened for reading`, { details: { file } });
  };
  return {
    acquire: refuse,
    renew: refuse,
    release: refuse,
    append: refuse,
    claimDue: refuse,
    deleteSession: refuse,
    putBlob: refuse,
    saveSnapshot: refuse,
    putRecord: refuse,
    deleteRecord: refuse,
    applyRetention: refuse,
    probe: refuse,
  };
}
