import { rm } from "node:fs/promises";
import { join } from "node:path";
import { randomToken } from "../../platform/random.ts";
import { readSavedFile, saveFile, saveFileOnce } from "../../platform/files/private-files.ts";

export interface TokenOptions {
  /** Creates a new token even if one exists. Links and cookies with the old token become invalid. */
  readonly renew?: boolean;
}

/**
 * Returns the portal token of a data directory. The token is created once, so an open page stays authorized after a
 * restart of the bridge. Only the user can read the file.
 */
export async function ensurePortalToken(
  directory: string,
  { renew = false }: TokenOptions = {},
): Promise<string> {
  const file = join(directory, FILE_NAME);
  const existingToken = renew ? undefined : await readToken(file);
  if (existingToken !== undefined) return existingToken;
  const token = randomToken();
  if (renew || (await readSavedFile(file)) !== undefined) {
    await saveFile(file, `${token}\n`);
    return token;
  }
  await saveFileOnce(file, `${token}\n`);
  return (await readToken(file)) ?? token;
}

/** Deletes the token. The next start creates a new one. */
export async function deletePortalToken(directory: string): Promise<void> {
  await rm(join(directory, FILE_NAME), { recursive: true, force: true });
}

const FILE_NAME = "portal.token";

/** Undefined if the file is missing or does not contain a valid token. */
async function readToken(file: string): Promise<string | undefined> {
  const token = (await readSavedFile(file))?.trim() ?? "";
  return /^[\w-]{32,}$/.test(token) ? token : undefined;
}
