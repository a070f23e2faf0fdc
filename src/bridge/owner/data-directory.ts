import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { isTrustedDirectory, trustDirectory } from "../../platform/files/trusted-directory.ts";
import { makeFolder } from "../../platform/files/private-files.ts";
import { deletePortalToken } from "../serve/portal-token.ts";

/**
 * Creates the data directory. Throws `store_failed` with a reason for people if the directory cannot be created or
 * written.
 */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    await makeFolder(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw await createDirectoryError("keep", directory, error);
  }
}

/** Throws `store_failed` if the directory was removed while in use: a running bridge does not create it again. */
export async function requireDirectory(directory: string): Promise<void> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isMissing) throw await createDirectoryError("keep", directory, error);
    const message = `The data directory ${directory} was removed while the bridge was running. Fix: restore it, or stop the bridge`;
    throw new SpanlineError("store_failed", message, { details: { directory }, cause: error });
  }
}

/**
 * Prepares a directory and records it as this user's. Others may know the portal token of a directory from elsewhere,
 * so the token is deleted; the next start creates a new token.
 */
export async function claimDirectory(directory: string, userDirectory: string): Promise<void> {
  await prepareDirectory(directory);
  if (isTrustedDirectory(directory, userDirectory)) return;
  await deletePortalToken(directory);
  await trustDirectory(directory, userDirectory);
}

/** Creates the error for a directory that cannot be written or read, with the reason. */
export async function createDirectoryError(
  purpose: "keep" | "read",
  directory: string,
  cause: unknown,
): Promise<SpanlineError> {
  const action = purpose === "keep" ? "store sessions in" : "read the sessions in";
  const reason = await describeReason(directory, cause);
  const message = `Cannot ${action} ${shortenPath(directory)}: ${reason}. Fix: choose another with --data-dir`;
  return new SpanlineError("store_failed", message, { details: { directory }, cause });
}

async function describeReason(directory: string, error: unknown): Promise<string> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTDIR" || code === "EEXIST") {
    const stats = await stat(directory).catch(() => undefined);
    return stats?.isFile() === true ? "it is a file" : "a part of the path is not a folder";
  }
  // SQLite does not report why it cannot open a file. Its limit for paths is this length.
  if (Buffer.byteLength(directory) > MAX_PATH_BYTES) return "the path is too long";
  return REASONS.get(code) ?? formatThrown(error);
}

const MAX_PATH_BYTES = 480;

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "no permission"],
  ["EPERM", "no permission"],
  ["EROFS", "it is read-only"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ENOENT", "no folder can be created there"],
  ["ENOSPC", "the disk is full"],
  ["ELOOP", "its symbolic links form a cycle"],
]);

function shortenPath(path: string): string {
  return path.length <= MAX_SHOWN_LENGTH
    ? path
    : `${path.slice(0, MAX_SHOWN_LENGTH / 2)}…${path.slice(-MAX_SHOWN_LENGTH / 2)}`;
}

const MAX_SHOWN_LENGTH = 100;
