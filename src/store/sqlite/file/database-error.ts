import { SpanlineError, formatThrown, type ErrorCode } from "../../../domain/errors.ts";
import { StoreError } from "../../store-error.ts";

/**
 * An engine error as a `StoreError` whose message names the file and the cause. The text of SQLite stays in `cause`, and
 * its extended result code in `details.sqlite`. Other errors are returned unchanged.
 */
export function toStoreError(error: unknown, file: string): unknown {
  const isOurs = error instanceof SpanlineError || !(error instanceof Error);
  if (isOurs || !("errcode" in error) || typeof error.errcode !== "number") return error;
  const { errcode: sqlite } = error;
  // The low byte is the primary code: https://www.sqlite.org/rescode.html
  const cause = ERROR_CAUSES.get(sqlite) ?? ERROR_CAUSES.get(sqlite & 0xff);
  const { code, message } = cause ?? {
    code: "store_failed",
    message: `cannot be read or written (SQLite error ${sqlite}: ${formatThrown(error)})`,
  };
  return new StoreError(code, `${file} ${message}`, { details: { file, sqlite }, cause: error });
}

interface DatabaseErrorCause {
  readonly code: Extract<ErrorCode, `store_${string}`>;
  /** Follows the path of the file. */
  readonly message: string;
}

const DAMAGED_CAUSE: DatabaseErrorCause = {
  code: "store_damaged",
  message: "is damaged: it is not a readable SQLite database. Fix: restore it from a copy",
};

/** By primary or extended result code of SQLite. */
const ERROR_CAUSES: ReadonlyMap<number, DatabaseErrorCause> = new Map([
  // SQLITE_BUSY
  [5, { code: "store_failed", message: "is locked by another process" }],
  // SQLITE_READONLY
  [8, { code: "store_failed", message: "cannot be written: it is read-only" }],
  // SQLITE_READONLY_DBMOVED
  [1032, { code: "store_failed", message: "was removed or replaced while it was in use" }],
  // SQLITE_IOERR
  [
    10,
    { code: "store_failed", message: "cannot be read or written: the disk reported an I/O error" },
  ],
  // SQLITE_IOERR_WRITE: also the result of a file size limit (EFBIG) or a quota.
  [
    778,
    {
      code: "store_failed",
      message:
        "cannot be written: the system refused the write. Fix: check the disk, the quota and the limit on file sizes",
    },
  ],
  [11, DAMAGED_CAUSE],
  // SQLITE_FULL
  [
    13,
    {
      code: "store_full",
      message: "cannot be written: the disk is full. Fix: free some space",
    },
  ],
  // SQLITE_CANTOPEN: no such folder, no permission, or no file descriptor left.
  [
    14,
    {
      code: "store_failed",
      message:
        "cannot be opened. Fix: check that it exists, its permissions and the limit on open files",
    },
  ],
  // SQLITE_NOTADB
  [26, DAMAGED_CAUSE],
]);
