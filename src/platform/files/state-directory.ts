import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "../environment.ts";
import { isTrustedDirectory } from "./trusted-directory.ts";
import { homedir } from "node:os";

export interface StateDirectory {
  readonly directory: string;
  /** `.spanline` folders found on the way and skipped, because this user has not trusted them. */
  readonly skippedDirectories: readonly string[];
}

/**
 * The directory for persistent data: `SPANLINE_DATA_DIR`, otherwise the nearest trusted `.spanline` from `from`
 * upwards, otherwise the user's own state directory. A downloaded project may contain a `.spanline` too, so an
 * untrusted folder is skipped.
 */
export function resolveStateDirectory(env: Environment, from: string): StateDirectory {
  const { SPANLINE_DATA_DIR: configured } = env;
  if (configured !== undefined && configured !== "") {
    return { directory: resolve(from, configured), skippedDirectories: [] };
  }
  const fallback = resolveUserDirectory(env);
  const skippedDirectories: string[] = [];
  for (const candidate of findUpwards(from, ".spanline")) {
    if (isTrustedDirectory(candidate, fallback))
      return { directory: candidate, skippedDirectories };
    skippedDirectories.push(candidate);
  }
  return { directory: fallback, skippedDirectories };
}

/** The user's own state directory, independent of any project. */
export function resolveUserDirectory(env: Environment): string {
  const { XDG_STATE_HOME: state, LOCALAPPDATA: local } = env;
  return join(state || local || join(resolveHomeDirectory(env), ".local", "state"), "spanline");
}

function* findUpwards(from: string, name: string): Generator<string> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) yield path;
    if (folder === dirname(folder)) return;
  }
}

/** The home directory named by the environment. Default: the home directory of the user. */
export function resolveHomeDirectory(env: Environment): string {
  return env[process.platform === "win32" ? "USERPROFILE" : "HOME"] || homedir();
}
