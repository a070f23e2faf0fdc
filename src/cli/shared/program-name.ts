import { basename } from "node:path";
import type { CommandIo } from "../../platform/process/command-io.ts";

/**
 * Returns the command for starting this program again: `spanline` if the program was started under this name, otherwise
 * `node` with the path.
 */
export function resolveProgramName({ argv }: Pick<CommandIo, "argv">): string {
  const [program = "spanline"] = argv;
  return basename(program) === "spanline" ? "spanline" : `node ${program}`;
}
