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
  /** The expected file at the moment of the rename. Null if no file may exist. */
  readonly original: { readonly sha256: string; readonly facts: BigIntStats } | null;
  readonly places: ProtectedPaths;
}

/**
 * Replaces a file atomically: a concurrent reader, or a reader after a crash, sees either the old or the new content.
 * The permissions and the owner are preserved.
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
    // The system's message would expose the descriptor path of the temporary file.
    const path = join(folder.path, name);
    throw createRefusal("failed", `${path} cannot be written (${readErrorCode(error)})`, error);
  }
}

async function copyPermissions(file: FileHandle, { uid, gid, mode }: BigIntStats): Promise<void> {
  const currentStats = await file.stat({ bigint: true });
  let isOwned = currentStats.uid === uid && currentStats.gid === gid;
  if (!isOwned) {
    // A user with write access to the folder can replace another user's file, but may not be allowed to restore its
    // owner.
    isOwned = await file.chown(Number(uid), Number(gid)).then(
      () => true,
      () => false,
    );
  }
  // Drops setuid and setgid if the owner changed: a program must not run with another user's rights.
  await file.chmod(Number(mode & (isOwned ? 0o7777n : 0o777n)));
}

/** Refuses to overwrite a concurrent change. A change between this check and the rename is not detected. */
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
  throw createRefusal("changed", `${path} was changed in the meantime; read it again`);
}
