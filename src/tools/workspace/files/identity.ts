import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { codeOf } from "./system-error.ts";

/** A file as the system knows it, whatever it is called: the same for every name of it. */
export type Identity = string;

export function identityOf({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): Identity {
  return `${dev}:${ino}`;
}

/** Undefined when nothing is there, or nobody may look. */
export async function lookAt(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if (MISSING.has(codeOf(error))) return undefined;
    throw error;
  }
}

const MISSING: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "EACCES", "ENAMETOOLONG"]);
