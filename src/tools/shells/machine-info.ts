import { open } from "node:fs/promises";
import { userInfo } from "node:os";
import type { Environment } from "../../platform/environment.ts";
import { isProgram } from "../../platform/process/is-program.ts";

/** What the shells of a machine are found by. */
export interface MachineInfo {
  /** As Node names it. */
  readonly platform: string;
  readonly environment: Environment;
  /** Of this user, as the system's list of users has it. */
  readonly loginShell: string | undefined;
  isProgram(path: string): Promise<boolean>;
  /** Undefined where it cannot be read. */
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

/** The system is asked and no file read: on macOS, and where users come from a directory, they are in none. */
function readLoginShell(): string | undefined {
  try {
    return userInfo().shell ?? undefined;
  } catch {
    // A user that only has a number.
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
