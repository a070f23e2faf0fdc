import { resolve } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import { oneLine } from "../inspect/style.ts";
import { stateDirectory } from "../platform/state-directory.ts";

/** Where sessions are kept: as the flag says, else as everything else of this user's. */
export function dataDirectory(flag: string | undefined, notice: (line: string) => void): string {
  if (flag === undefined) {
    const { directory, passedOver } = stateDirectory(process.env, process.cwd());
    for (const found of passedOver) notice(notYours(found));
    return directory;
  }
  if (flag !== "") return resolve(flag);
  throw new SpanlineError("invalid_option", "--data-dir is empty, wanted a folder", {
    details: { path: "dataDir" },
  });
}

/** It may have come with the project, and hold what somebody else allowed. */
function notYours(directory: string): string {
  const shown = oneLine(directory);
  return `${shown} is not used, since nothing says that it is yours. If it is, run this once: spanline up --data-dir ${shown}`;
}
