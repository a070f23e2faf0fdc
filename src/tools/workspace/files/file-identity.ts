import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { readErrorCode } from "./system-error.ts";

/** A file's device and inode, equal for all its names. */
export type Identity = string;

export function toIdentity({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): Identity {
  return `${dev}:${ino}`;
}

/** Undefined if the file does not exist or is not accessible. */
export async function readStats(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (MISSING_CODES.has(readErrorCode(error))) return undefined;
    throw error;
  }
}

const MISSING_CODES: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG"]);
