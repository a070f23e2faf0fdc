import { constants, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { ProtectedPaths } from "../paths/protected-paths.ts";
import { createRefusal } from "../tool-refusal.ts";
import { checkName, NO_LINKS, type Folder } from "./folder.ts";
import { readStats } from "./file-identity.ts";
import { readErrorCode } from "./system-error.ts";

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly facts: BigIntStats;
}

/**
 * Opens a regular file for reading. Other file types are refused, if possible before opening: opening a device can have
 * side effects, and opening a pipe can block. Undefined if the file does not exist.
 */
export async function openFile(
  folder: Folder,
  name: string,
  places: ProtectedPaths,
): Promise<OpenedFile | undefined> {
  const path = join(folder.path, name);
  checkName(folder.path, name);
  const before = await readStats(folder.resolve(name));
  if (before === undefined) return undefined;
  checkKind(before, path);
  const handle = await openHandle(folder.resolve(name), path);
  if (handle === undefined) return undefined;
  try {
    const facts = await handle.stat({ bigint: true });
    checkKind(facts, path);
    if (places.holds(facts)) {
      throw createRefusal("protected", `${path} is reserved for Spanline`);
    }
    await folder.confirm();
    return { handle, facts };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** `O_NONBLOCK`: a file replaced by a pipe after the check cannot block the open. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | NO_LINKS;

async function openHandle(target: string, path: string): Promise<FileHandle | undefined> {
  try {
    return await open(target, OPEN_FLAGS);
  } catch (error) {
    const code = readErrorCode(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw createRefusal("moved", `${path} was replaced by a link`, error);
    throw createRefusal("failed", `${path} cannot be read (${code})`, error);
  }
}

function checkKind(facts: BigIntStats, path: string): void {
  if (facts.isFile()) return;
  if (facts.isSymbolicLink()) throw createRefusal("moved", `${path} was replaced by a link`);
  throw createRefusal("not_a_file", `${path} is ${describeKind(facts)}: expected a file`);
}

function describeKind(facts: Pick<BigIntStats, KindCheck>): string {
  if (facts.isDirectory()) return "a folder";
  if (facts.isFIFO()) return "a pipe";
  if (facts.isSocket()) return "a socket";
  if (facts.isCharacterDevice() || facts.isBlockDevice()) return "a device";
  return "of an unknown type";
}

type KindCheck = "isDirectory" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice";
