import { homedir } from "node:os";
import type { Environment } from "../environment.ts";

/** The home directory that an environment names, else the user's. */
export function resolveHomeDirectory(env: Environment): string {
  return env[process.platform === "win32" ? "USERPROFILE" : "HOME"] || homedir();
}
