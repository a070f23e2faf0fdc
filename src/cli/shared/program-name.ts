import { basename } from "node:path";
import type { CommandIo } from "../../platform/process/command-io.ts";

/** This program as others have to start it: by its name only where that is how it was started. */
export function resolveProgramName({ argv }: Pick<CommandIo, "argv">): string {
  const [program = "spanline"] = argv;
  return basename(program) === "spanline" ? "spanline" : `node ${program}`;
}
