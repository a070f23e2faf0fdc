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
  /**
   * Opens the file for reading only, for use next to a writing process. Never changes the file or its locks. Default:
   * false.
   */
  readonly readOnly?: boolean;
  readonly clock?: Clock;
  /** Syncs the write-ahead log to the disk. Default: `datasync` of the file handle. */
  readonly datasync?: SyncFileData;
  /** Called once when a sync fails. After a failure every write is refused until the file is opened again. */
  readonly onFailure?: (error: StoreError) => void;
  readonly versions?: EventVersions;
  /** `plain` scans every text, like an engine without FTS5. Default: `full-text`. */
  readonly search?: "full-text" | "plain";
  /** False: a missing file is an error (`store_failed`). Default: the file is created, with its folder. */
  readonly create?: boolean;
}

/** Opens a store in one SQLite file. One process writes; other processes may open the file with `readOnly`. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { file, readOnly = false, create = true } = options;
  const { DatabaseSync } = await loadEngine();
  checkNotEmpty(file);
  if (!readOnly && !existsSync(file)) {
    if (!create)
      throw new StoreError("store_failed", `${file} does not exist: it was removed or moved`, {
        details: { file },
      });
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

/** SQLite treats an empty file as a new database, so a truncated log would silently start over. */
function checkNotEmpty(file: string): void {
  if (statSync(file, { throwIfNoEntry: false })?.size !== 0) return;
  const message = `${file} is empty (0 bytes), so its sessions are lost. Fix: restore it from a copy, or remove it to start without sessions`;
  throw new StoreError("store_damaged", message, { details: { file } });
}

/**
 * Creates a missing database under a temporary name and renames it when it is complete. A process killed in between
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
    // Must be set before the first table is created.
    sql.exec("PRAGMA auto_vacuum = INCREMENTAL");
    migrate(sql, draft);
  } finally {
    sql.close();
  }
  renameSync(draft, file);
}

/**
 * The `-wal` and `-shm` files contain parts of the log, too. SQLite creates new ones with the permissions of the
 * database file; existing files are restricted here.
 */
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
    addWatcher: () => changes.addFollower(),
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
    // Readers see data that a killed process left in the page cache, so this data must be synced before the store
    // opens.
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
  const notifier = createChangeNotifier();
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
    ...createStoreReader({ sql, rows, records, notifier, overlay: liveSessions }),
    ...createStoreWriter({
      sql,
      kinds,
      rows,
      records,
      notifier,
      liveSessions,
      unwrittenSessions,
      sync,
      isInPlace,
      close,
    }),
  };
}

/** Switches to WAL. An engine may keep another journal mode without an error, so the result is checked. */
function configureDatabase(sql: Sql, file: string): void {
  const mode = sql.get("PRAGMA journal_mode = WAL")?.text("journal_mode");
  if (mode !== "wal") {
    throw new StoreError(
      "store_failed",
      `${file} cannot use a write-ahead log on this file system. Fix: use a data directory on a local disk`,
      {
        details: { file, mode },
      },
    );
  }
  sql.exec(`PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

/**
 * Truncates the write-ahead log. `@photostructure/sqlite` closes the file only when the last statement is garbage
 * collected, and skips this checkpoint. A failure is harmless: the next open reads the remaining log.
 */
function checkpointWal(sql: Sql): void {
  try {
    sql.all("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    return;
  }
}

const BUSY_TIMEOUT_MS = 2000;
/** 16 MB. A page changed often is copied once: a seventh less work than with SQLite's default of 1,000 pages. */
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
