import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import { isKnownDirectory, knowDirectory } from "../platform/known-directory.ts";
import { makeFolder } from "../platform/make-folder.ts";
import { forgetPortalToken } from "./portal-token.ts";

/** Makes the folder that everything is kept in. What is in the way of that is said for people. */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    await makeFolder(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw await directoryProblem("keep", directory, error);
  }
}

/** Refuses a directory that was removed while it was in use: a bridge that runs does not create it again. */
export async function expectDirectory(directory: string): Promise<void> {
  try {
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isGone) throw await directoryProblem("keep", directory, error);
    const message = `The data directory ${directory} was removed while the bridge was running. Fix: restore it, or stop the bridge`;
    throw new SpanlineError("store_failed", message, { details: { directory }, cause: error });
  }
}

/**
 * Makes a directory ready to be run, as this user's. Of one that was not, nobody knows who else has the token of its
 * portal: another is made.
 */
export async function takeDirectory(directory: string, userDirectory: string): Promise<void> {
  await prepareDirectory(directory);
  if (isKnownDirectory(directory, userDirectory)) return;
  await forgetPortalToken(directory);
  await knowDirectory(directory, userDirectory);
}

/** Why nothing can be kept in a folder, or read there. */
export async function directoryProblem(
  wanted: "keep" | "read",
  directory: string,
  cause: unknown,
): Promise<SpanlineError> {
  const what = wanted === "keep" ? "keep sessions in" : "read the sessions in";
  const reason = await reasonOf(directory, cause);
  const message = `Cannot ${what} ${shortened(directory)}: ${reason}; choose another with --data-dir`;
  return new SpanlineError("store_failed", message, { details: { directory }, cause });
}

async function reasonOf(directory: string, error: unknown): Promise<string> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTDIR" || code === "EEXIST") {
    const isThere = await stat(directory).catch(() => undefined);
    return isThere?.isFile() === true ? "it is a file" : "a part of the path is no folder";
  }
  // SQLite does not say why it cannot open a file, and takes paths of this length at most.
  if (Buffer.byteLength(directory) > MAX_PATH_BYTES) return "the path is too long";
  return REASONS.get(code) ?? thrownMessage(error);
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

function shortened(path: string): string {
  return path.length <= MOST_SHOWN
    ? path
    : `${path.slice(0, MOST_SHOWN / 2)}…${path.slice(-MOST_SHOWN / 2)}`;
}

const MOST_SHOWN = 100;
