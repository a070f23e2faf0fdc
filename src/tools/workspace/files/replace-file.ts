import { constants, type BigIntStats } from "node:fs";
import { open, rename, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";
import { randomText } from "../../../platform/random.ts";
import type { ProtectedPlaces } from "../paths/protected-places.ts";
import { refusal } from "../refusal.ts";
import { NO_LINKS, type Folder } from "./folder.ts";
import { openFile } from "./open-file.ts";
import { readWhole } from "./read-whole.ts";
import { codeOf } from "./system-error.ts";

export interface Replacement {
  readonly folder: Folder;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** What the file has to be at the last moment; null for no file. */
  readonly before: { readonly sha256: string; readonly facts: BigIntStats } | null;
  readonly places: ProtectedPlaces;
}

/**
 * Puts a file in the place of another as a whole: whoever reads it, and whoever comes after a kill, finds the old one or
 * the new one. It keeps the rights and the owner of the old one.
 */
export async function replaceFile(replacement: Replacement): Promise<void> {
  const { folder, name, bytes, before } = replacement;
  const draft = `.spanline-${randomText(12)}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINKS;
  try {
    await folder.check();
    const file = await open(folder.at(draft), flags, before === null ? 0o666 : 0o600);
    try {
      await file.writeFile(bytes);
      if (before !== null) await keepRights(file, before.facts);
      await file.sync();
    } finally {
      await file.close();
    }
    await checkUnchanged(replacement);
    await folder.check();
    await rename(folder.at(draft), folder.at(name));
    await folder.sync();
  } catch (error) {
    await unlink(folder.at(draft)).catch(() => undefined);
    if (error instanceof SpanlineError) throw error;
    // The system's own message names the descriptor that the draft was reached by.
    const path = join(folder.path, name);
    throw refusal("failed", `${path} cannot be written (${codeOf(error)})`, error);
  }
}

async function keepRights(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const made = await file.stat({ bigint: true });
  let isOwned = made.uid === uid && made.gid === gid;
  if (!isOwned) {
    // Another's file can be replaced by whoever may write in its folder, but not given back to its owner.
    isOwned = await file.chown(Number(uid), Number(gid)).then(
      () => true,
      () => false,
    );
  }
  // A program that ran with its owner's rights must not run with those of another.
  await file.chmod(Number(mode & (isOwned ? 0o7777n : 0o777n)));
}

/** Nobody's change is written over: that leaves the moment between this look and the rename. */
async function checkUnchanged({ folder, name, before, places }: Replacement): Promise<void> {
  const path = join(folder.path, name);
  const opened = await openFile(folder, name, places);
  try {
    if (opened === undefined && before === null) return;
    if (opened !== undefined && before !== null) {
      const now = await readWhole(opened, Number(before.facts.size));
      if (now?.sha256 === before.sha256) return;
    }
  } finally {
    await opened?.handle.close();
  }
  throw refusal("changed", `${path} was changed by somebody else meanwhile; read it again`);
}
