import { resolve } from "node:path";
import { stateDirectory } from "../platform/state-directory.ts";

/** Where sessions are kept: as the flag says, else as everything else of this user's. */
export function dataDirectory(flag: string | undefined): string {
  return flag === undefined ? stateDirectory(process.env, process.cwd()) : resolve(flag);
}
