import { resolve } from "node:path";
import { SpanlineError } from "../../../domain/errors.ts";
import { toSingleLine } from "../../../inspect/trace-style.ts";
import { resolveStateDirectory } from "../../../platform/files/state-directory.ts";
import type { CommandIo } from "../../../platform/process/command-io.ts";

/** Where sessions are kept: as the flag says, else as everything else of this user's. */
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
  throw new SpanlineError("invalid_option", "--data-dir is empty, wanted a folder", {
    details: { path: "dataDir" },
  });
}

/** It may have come with the project, and hold what somebody else allowed. */
function formatSkippedDirectory(directory: string): string {
  const name = toSingleLine(directory);
  return `${name} is not used, since nothing says that it is yours. If it is, run this once: spanline up --data-dir ${name}`;
}
