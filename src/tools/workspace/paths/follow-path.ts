import { isUtf8 } from "node:buffer";
import { lstat, realpath } from "node:fs/promises";
import { readErrorCode } from "../files/system-error.ts";

/** Where a path leads: through links and `..` as far as it is there, and what is left of it. */
export type FollowedPath =
  | {
      readonly hostPath: string;
      readonly remaining: readonly string[];
      readonly problem?: undefined;
    }
  | { readonly problem: string };

/** Takes an absolute path. `..` counts from where a link leads, as the system has it, and not from how it is written. */
export async function followPath(path: string): Promise<FollowedPath> {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (let count = names.length; count >= 0; count--) {
    const real = await resolveRealPath(`/${names.slice(0, count).join("/")}`);
    if (real === undefined) continue;
    return typeof real === "string" ? appendRemaining(real, names.slice(count)) : real;
  }
  return { problem: "it leads nowhere" };
}

async function resolveRealPath(path: string): Promise<string | { problem: string } | undefined> {
  try {
    const bytes = await realpath(path, { encoding: "buffer" });
    return isUtf8(bytes) ? bytes.toString() : { problem: "a name on its way is not UTF-8" };
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return undefined;
    return {
      problem:
        PROBLEMS.get(readErrorCode(error)) ?? `it cannot be followed (${readErrorCode(error)})`,
    };
  }
}

const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["ENOTDIR", "a part of it is no folder"],
  ["EACCES", "a part of it may not be entered"],
  ["ELOOP", "its links lead in a circle"],
  ["ENAMETOOLONG", "a name in it is too long"],
]);

async function appendRemaining(real: string, remaining: readonly string[]): Promise<FollowedPath> {
  const [next] = remaining;
  if (next === undefined) return { hostPath: real, remaining };
  if (remaining.includes("..")) return { problem: "it goes up from a folder that is not there" };
  const base = real === "/" ? "" : real;
  // Realpath did not find it: what has that name nevertheless is a link to nowhere, and a write would go there.
  const isLink = await lstat(`${base}/${next}`).then(
    () => true,
    () => false,
  );
  if (isLink) return { problem: "a part of it is a link to something that is not there" };
  return { hostPath: `${base}/${remaining.join("/")}`, remaining };
}
