import { resolve } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";
import { toSingleLine } from "../../../inspect/trace-style.ts";
import { resolveStateDirectory } from "../../../platform/files/state-directory.ts";
import type { CommandIo } from "../../../platform/process/command-io.ts";

/**
 * Returns the data directory: the flag, or the state directory of this user. Throws `invalid_option` if the flag is
 * empty.
 */
export function resolveDataDirectory(
  flag: string | undefined,
  { env, cwd }: Pick<CommandIo, "env" | "cwd">,
  notice: (line: string) => void,
): string {
  if (flag === undefined) {
    const { directory, skippedDirectories } = resolveStateDirectory(env, cwd);
    for (const skipped of skippedDirectories) notice(formatSkippedDirectory(skipped));
    return directory;
  }
  if (flag !== "") return resolve(cwd, flag);
  throw new SpanlineError("invalid_option", "--data-dir is empty: expected a folder", {
    details: { path: "dataDir" },
  });
}

/** A skipped `.spanline` folder may be part of a cloned project and contain another user's grants. */
function formatSkippedDirectory(directory: string): string {
  const name = toSingleLine(directory);
  return `${name} is ignored, because it is not known to be yours. Fix: if it is yours, run once: spanline up --data-dir ${name}`;
}
