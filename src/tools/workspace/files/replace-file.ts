import { constants, type BigIntStats } from "node:fs";
import { open, rename, unlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";
import { randomString } from "../../../platform/random.ts";
import type { ProtectedPaths } from "../paths/protected-paths.ts";
import { createRefusal } from "../tool-refusal.ts";
import { NO_LINKS, type Folder } from "./folder.ts";
import { openFile } from "./open-file.ts";
import { readWholeFile } from "./read-whole-file.ts";
import { readErrorCode } from "./system-error.ts";

export interface Replacement {
  readonly folder: Folder;
  readonly name: string;
  readonly bytes: Uint8Array;
  /** What the file has to be at the last moment; null for no file. */
  readonly original: { readonly sha256: string; readonly facts: BigIntStats } | null;
  readonly places: ProtectedPaths;
}

/**
 * Puts a file in the place of another as a whole: whoever reads it, and whoever comes after a kill, finds the old one or
 * the new one. It keeps the rights and the owner of the old one.
 */
export async function replaceFile(replacement: Replacement): Promise<void> {
  const { folder, name, bytes, original } = replacement;
  const draft = `.spanline-${randomString(12)}.tmp`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINKS;
  try {
    await folder.check();
    const file = await open(folder.resolve(draft), flags, original === null ? 0o666 : 0o600);
    try {
      await file.writeFile(bytes);
      if (original !== null) await copyPermissions(file, original.facts);
      await file.sync();
    } finally {
      await file.close();
    }
    await checkUnchanged(replacement);
    await folder.check();
    await rename(folder.resolve(draft), folder.resolve(name));
    await folder.sync();
  } catch (error) {
    await unlink(folder.resolve(draft)).catch(() => undefined);
    if (error instanceof SpanlineError) throw error;
    // The system's own message names the descriptor that the draft was reached by.
    const path = join(folder.path, name);
    throw createRefusal("failed", `${path} cannot be written (${readErrorCode(error)})`, error);
  }
}

async function copyPermissions(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const currentStats = await file.stat({ bigint: true });
  let isOwned = currentStats.uid === uid && currentStats.gid === gid;
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
async function checkUnchanged({
  folder,
  name,
  original: before,
  places,
}: Replacement): Promise<void> {
  const path = join(folder.path, name);
  const opened = await openFile(folder, name, places);
  try {
    if (opened === undefined && before === null) return;
    if (opened !== undefined && before !== null) {
      const now = await readWholeFile(opened, Number(before.facts.size));
      if (now?.sha256 === before.sha256) return;
    }
  } finally {
    await opened?.handle.close();
  }
  throw createRefusal("changed", `${path} was changed by somebody else meanwhile; read it again`);
}
