import { isAbsolute, join } from "node:path";
import { isProgram } from "../../../platform/process/is-program.ts";
import { followPath } from "../paths/follow-path.ts";
import { isWithin } from "../paths/protected-paths.ts";

/**
 * Finds a program by its name in the folders of `PATH`. Not in a folder that is given relative to another, nor below
 * `avoid`: what an agent can write there is not what keeps it in.
 */
export async function findProgram(
  name: string,
  path: string,
  avoid: readonly string[],
): Promise<string | undefined> {
  for (const folder of path.split(":").filter(isAbsolute)) {
    const followed = await followPath(join(folder, name));
    if (followed.problem !== undefined) continue;
    const { hostPath } = followed;
    if (avoid.some((place) => isWithin(hostPath, place))) continue;
    if (await isProgram(hostPath)) return hostPath;
  }
  return undefined;
}
