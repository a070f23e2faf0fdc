import { resolve } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import { stateDirectory } from "../platform/state-directory.ts";

/** Where sessions are kept: as the flag says, else as everything else of this user's. */
export function dataDirectory(flag: string | undefined): string {
  if (flag === undefined) return stateDirectory(process.env, process.cwd());
  if (flag !== "") return resolve(flag);
  throw new SpanlineError("invalid_option", "--data-dir is empty, wanted a folder", {
    details: { path: "dataDir" },
  });
}
