import { homedir } from "node:os";
import type { Environment } from "../environment.ts";

/** The home directory named by the environment. Default: the home directory of the user. */
export function resolveHomeDirectory(env: Environment): string {
  return env[process.platform === "win32" ? "USERPROFILE" : "HOME"] || homedir();
}
