import { constants, type BigIntStats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { ProtectedPlaces } from "../paths/protected-places.ts";
import { refusal } from "../refusal.ts";
import { checkName, NO_LINKS, type Folder } from "./folder.ts";
import { lookAt } from "./identity.ts";
import { codeOf } from "./system-error.ts";

export interface OpenedFile {
  readonly handle: FileHandle;
  readonly facts: BigIntStats;
}

/**
 * Opens a plain file for reading. What else has that name is refused without being opened where it can be seen before,
 * since opening alone does something to a device and waits at a pipe; undefined when nothing has it.
 */
export async function openFile(
  folder: Folder,
  name: string,
  places: ProtectedPlaces,
): Promise<OpenedFile | undefined> {
  const path = join(folder.path, name);
  checkName(folder.path, name);
  const before = await lookAt(folder.at(name));
  if (before === undefined) return undefined;
  checkKind(before, path);
  const handle = await opened(folder.at(name), path);
  if (handle === undefined) return undefined;
  try {
    const facts = await handle.stat({ bigint: true });
    checkKind(facts, path);
    if (places.holds(facts)) {
      throw refusal("protected", `${path} is what Spanline keeps for itself`);
    }
    await folder.confirm();
    return { handle, facts };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** `O_NONBLOCK`: what became a pipe since it was looked at has no say in how long this takes. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | NO_LINKS;

async function opened(by: string, path: string): Promise<FileHandle | undefined> {
  try {
    return await open(by, FLAGS);
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw refusal("moved", `${path} was replaced by a link`, error);
    throw refusal("failed", `${path} cannot be read (${code})`, error);
  }
}

function checkKind(facts: BigIntStats, path: string): void {
  if (facts.isFile()) return;
  if (facts.isSymbolicLink()) throw refusal("moved", `${path} was replaced by a link`);
  throw refusal("not_a_file", `${path} is ${kindOf(facts)}, and no file`);
}

function kindOf(facts: Pick<BigIntStats, KindCheck>): string {
  if (facts.isDirectory()) return "a folder";
  if (facts.isFIFO()) return "a pipe";
  if (facts.isSocket()) return "a socket";
  if (facts.isCharacterDevice() || facts.isBlockDevice()) return "a device";
  return "something unknown";
}

type KindCheck = "isDirectory" | "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice";
