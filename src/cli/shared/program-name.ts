import { basename, dirname } from "node:path";
import type { CommandIo } from "../../platform/process/command-io.ts";

/**
 * Returns the command for starting this program again: `spanline` for a global installation, `npx spanline` for an
 * installation in a project, otherwise `node` with the path.
 */
export function resolveProgramName({ argv }: Pick<CommandIo, "argv">): string {
  const [program = "spanline"] = argv;
  if (basename(program) !== "spanline") return `node ${program}`;
  return basename(dirname(program)) === ".bin" ? "npx spanline" : "spanline";
}
