import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Environment } from "./environment.ts";

/**
 * Where Spanline keeps what outlives a command: `SPANLINE_DATA_DIR`, else the nearest `.spanline` from here upwards, else
 * the user's own state directory.
 */
export function stateDirectory(env: Environment, from: string): string {
  const { SPANLINE_DATA_DIR: given } = env;
  if (given !== undefined && given !== "") return resolve(from, given);
  const project = nearest(from, ".spanline");
  if (project !== undefined) return project;
  return userDirectory(env);
}

/** The user's own, whatever project they are in. */
export function userDirectory({ XDG_STATE_HOME: state, LOCALAPPDATA: local }: Environment): string {
  return join(state || local || join(homedir(), ".local", "state"), "spanline");
}

function nearest(from: string, name: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, name);
    if (existsSync(path)) return path;
    if (folder === dirname(folder)) return undefined;
  }
}
