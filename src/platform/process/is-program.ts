import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { delimiter, join, resolve } from "node:path";

/** True if the path is a file that this user may execute. */
export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** True if a command can be run from a folder, by its path or by a name in `PATH`. */
export async function hasCommand(command: string, from: string, path = ""): Promise<boolean> {
  if (command.includes("/")) return isProgram(resolve(from, command));
  for (const folder of path.split(delimiter)) {
    if (await isProgram(resolve(from, join(folder === "" ? "." : folder, command)))) return true;
  }
  return false;
}
