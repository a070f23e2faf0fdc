import { open } from "node:fs/promises";
import { userInfo } from "node:os";
import type { Environment } from "../../platform/environment.ts";
import { isProgram } from "../../platform/process/is-program.ts";

/** The facts about a machine from which its shells are found. */
export interface MachineInfo {
  /** As in `process.platform`. */
  readonly platform: string;
  readonly environment: Environment;
  /** The login shell of the current user, from the system's user database. */
  readonly loginShell: string | undefined;
  isProgram(path: string): Promise<boolean>;
  /** Undefined if the file cannot be read. */
  readText(path: string): Promise<string | undefined>;
}

export function readThisMachine(environment: Environment = process.env): MachineInfo {
  return {
    platform: process.platform,
    environment,
    loginShell: readLoginShell(),
    isProgram,
    readText: readBeginning,
  };
}

/** Asks the system instead of reading a file: on macOS, and with directory services, users are not in `/etc/passwd`. */
function readLoginShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    // The user has an id but no entry in the user database.
    return undefined;
  }
}

async function readBeginning(path: string): Promise<string | undefined> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MAX_BYTES) });
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

const MAX_BYTES = 64 * 1024;
