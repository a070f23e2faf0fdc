import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "./environment.ts";
import { isKnownDirectory } from "./known-directory.ts";

export interface StateDirectory {
  readonly directory: string;
  /** What was found on the way there, and is not known to be this user's. */
  readonly passedOver: readonly string[];
}

/**
 * Where Spanline keeps what outlives a command: `SPANLINE_DATA_DIR`, else the nearest `.spanline` from here upwards that
 * is this user's, else the user's own state directory. A folder that came from somewhere else may have a `.spanline`, too.
 */
export function stateDirectory(env: Environment, from: string): StateDirectory {
  const { SPANLINE_DATA_DIR: given } = env;
  if (given !== undefined && given !== "") {
    return { directory: resolve(from, given), passedOver: [] };
  }
  const own = userDirectory(env);
  const passedOver: string[] = [];
  for (const found of upwards(from, ".spanline")) {
    if (isKnownDirectory(found, own)) return { directory: found, passedOver };
    passedOver.push(found);
  }
  return { directory: own, passedOver };
}

/** The user's own, whatever project they are in. */
export function userDirectory({ XDG_STATE_HOME: state, LOCALAPPDATA: local }: Environment): string {
  return join(state || local || join(homedir(), ".local", "state"), "spanline");
}

function* upwards(from: string, name: string): Generator<string> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) yield path;
    if (folder === dirname(folder)) return;
  }
}
