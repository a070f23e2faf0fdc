import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { readErrorCode } from "./system-error.ts";

/** A file as the system knows it, whatever it is called: the same for every name of it. */
export type Identity = string;

export function toIdentity({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): Identity {
  return `${dev}:${ino}`;
}

/** Undefined when nothing is there, or nobody may look. */
export async function readStats(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (MISSING_CODES.has(readErrorCode(error))) return undefined;
    throw error;
  }
}

const MISSING_CODES: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG"]);
