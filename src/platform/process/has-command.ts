import { delimiter, join, resolve } from "node:path";
import { isProgram } from "./is-program.ts";

/** Whether a command can be run from a folder, by its path or by a name that is in `PATH`. */
export async function hasCommand(command: string, from: string, path = ""): Promise<boolean> {
  if (command.includes("/")) return isProgram(resolve(from, command));
  for (const folder of path.split(delimiter)) {
    if (await isProgram(resolve(from, join(folder === "" ? "." : folder, command)))) return true;
  }
  return false;
}
