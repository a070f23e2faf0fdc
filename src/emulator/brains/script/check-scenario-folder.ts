import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";

/**
 * Throws when a scenario lies outside of the folder for them. A harness is made by whoever reaches the emulator, and what
 * is wrong in a file is said with parts of it.
 */
export async function checkScenarioFolder(file: string, folder: string | undefined): Promise<void> {
  if (folder === undefined) {
    const message = `The script ${file} is none that the emulator was started with, and it was given no folder of scripts; start it with scripts: FOLDER to let harnesses name the files in there`;
    throw new SpanlineError("invalid_option", message);
  }
  const message = `The script ${file} is not in ${folder}, the folder of scripts that the emulator was started with`;
  if (!isInside(resolve(file), resolve(folder))) throw new SpanlineError("invalid_option", message);
  // A link may lead out of the folder. A file that there is not is for whoever reads it to complain of.
  const [real, realFolder] = await Promise.all([file, folder].map((path) => realpath(path))).catch(
    () => [],
  );
  if (real === undefined || realFolder === undefined || isInside(real, realFolder)) return;
  throw new SpanlineError("invalid_option", message);
}

function isInside(path: string, folder: string): boolean {
  const relativePath = relative(folder, path);
  return (
    relativePath !== "" &&
    relativePath !== ".." &&
    !relativePath.startsWith(`..${sep}`) &&
    !isAbsolute(relativePath)
  );
}
