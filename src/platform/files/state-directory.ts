import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "../environment.ts";
import { resolveHomeDirectory } from "./home-directory.ts";
import { isTrustedDirectory } from "./trusted-directory.ts";

export interface StateDirectory {
  readonly directory: string;
  /** What was found on the way there, and is not known to be this user's. */
  readonly skippedDirectories: readonly string[];
}

/**
 * Where Spanline keeps what outlives a command: `SPANLINE_DATA_DIR`, else the nearest `.spanline` from here upwards that
 * is this user's, else the user's own state directory. A folder that came from somewhere else may have a `.spanline`, too.
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

/** The user's own, whatever project they are in. */
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
