import { rm } from "node:fs/promises";
import { join } from "node:path";
import { randomToken } from "../../platform/random.ts";
import { readSavedFile, saveFile, saveFileOnce } from "../../platform/files/private-files.ts";

export interface TokenOptions {
  /** Whether a new one is made though there is one: links and cookies with the old one lose their rights. */
  readonly renew?: boolean;
}

/**
 * The token of a data directory's portal: made once, so that a page that is open keeps its rights when the bridge is
 * started again. Only its user can read it.
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

/** The next one is another. */
export async function deletePortalToken(directory: string): Promise<void> {
  await rm(join(directory, FILE_NAME), { recursive: true, force: true });
}

const FILE_NAME = "portal.token";

/** Undefined when there is none, or one that nobody made here. */
async function readToken(file: string): Promise<string | undefined> {
  const token = (await readSavedFile(file))?.trim() ?? "";
  return /^[\w-]{32,}$/.test(token) ? token : undefined;
}
