import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import { isTrustedDirectory, trustDirectory } from "../../platform/files/trusted-directory.ts";
import { makeFolder } from "../../platform/files/private-files.ts";
import { deletePortalToken } from "../serve/portal-token.ts";

/** Makes the folder that everything is kept in. What is in the way of that is said for people. */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    await makeFolder(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw await createDirectoryError("keep", directory, error);
  }
}

/** Refuses a directory that was removed while it was in use: a bridge that runs does not create it again. */
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
 * Makes a directory ready to be run, as this user's. Of one that was not, nobody knows who else has the token of its
 * portal: another is made.
 */
export async function claimDirectory(directory: string, userDirectory: string): Promise<void> {
  await prepareDirectory(directory);
  if (isTrustedDirectory(directory, userDirectory)) return;
  await deletePortalToken(directory);
  await trustDirectory(directory, userDirectory);
}

/** Why nothing can be kept in a folder, or read there. */
export async function createDirectoryError(
  purpose: "keep" | "read",
  directory: string,
  cause: unknown,
): Promise<SpanlineError> {
  const action = purpose === "keep" ? "keep sessions in" : "read the sessions in";
  const reason = await describeReason(directory, cause);
  const message = `Cannot ${action} ${shortenPath(directory)}: ${reason}; choose another with --data-dir`;
  return new SpanlineError("store_failed", message, { details: { directory }, cause });
}

async function describeReason(directory: string, error: unknown): Promise<string> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTDIR" || code === "EEXIST") {
    const stats = await stat(directory).catch(() => undefined);
    return stats?.isFile() === true ? "it is a file" : "a part of the path is no folder";
  }
  // SQLite does not say why it cannot open a file, and takes paths of this length at most.
  if (Buffer.byteLength(directory) > MAX_PATH_BYTES) return "the path is too long";
  return REASONS.get(code) ?? formatThrown(error);
}

const MAX_PATH_BYTES = 480;

const REASONS: ReadonlyMap<string, string> = new Map([
  ["EACCES", "no permission"],
  ["EPERM", "no permission"],
  ["EROFS", "it can only be read"],
  ["ENAMETOOLONG", "the path is too long"],
  ["ENOENT", "no folder can be made there"],
  ["ENOSPC", "the disk is full"],
  ["ELOOP", "its links lead in a circle"],
]);

function shortenPath(path: string): string {
  return path.length <= MAX_SHOWN_LENGTH
    ? path
    : `${path.slice(0, MAX_SHOWN_LENGTH / 2)}…${path.slice(-MAX_SHOWN_LENGTH / 2)}`;
}

const MAX_SHOWN_LENGTH = 100;
