import { isUtf8 } from "node:buffer";
import { lstat, realpath } from "node:fs/promises";
import { readErrorCode } from "../files/system-error.ts";

/** A resolved path: links and `..` followed as far as the path exists, and the remaining missing names. */
export type FollowedPath =
  | {
      readonly hostPath: string;
      readonly remaining: readonly string[];
      readonly problem?: undefined;
    }
  | { readonly problem: string };

/** Expects an absolute path. `..` is relative to a link's target, as in the kernel, not to the written path. */
export async function followPath(path: string): Promise<FollowedPath> {
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (let count = names.length; count >= 0; count--) {
    const real = await resolveRealPath(`/${names.slice(0, count).join("/")}`);
    if (real === undefined) continue;
    return typeof real === "string" ? appendRemaining(real, names.slice(count)) : real;
  }
  return { problem: "it does not exist" };
}

async function resolveRealPath(path: string): Promise<string | { problem: string } | undefined> {
  try {
    const bytes = await realpath(path, { encoding: "buffer" });
    return isUtf8(bytes) ? bytes.toString() : { problem: "a name along the path is not UTF-8" };
  } catch (error) {
    if (readErrorCode(error) === "ENOENT") return undefined;
    return {
      problem:
        PROBLEMS.get(readErrorCode(error)) ?? `it cannot be followed (${readErrorCode(error)})`,
    };
  }
}

const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ["ENOTDIR", "a part of it is not a folder"],
  ["EACCES", "a part of it is not accessible"],
  ["ELOOP", "its links form a loop"],
  ["ENAMETOOLONG", "a name in it is too long"],
]);

async function appendRemaining(real: string, remaining: readonly string[]): Promise<FollowedPath> {
  const [next] = remaining;
  if (next === undefined) return { hostPath: real, remaining };
  if (remaining.includes("..")) return { problem: "it goes up from a folder that does not exist" };
  const base = real === "/" ? "" : real;
  // `realpath` did not find the name. If an entry exists nevertheless, it is a dangling link, and a write would follow
  // it.
  const isLink = await lstat(`${base}/${next}`).then(
    () => true,
    () => false,
  );
  if (isLink) return { problem: "a part of it is a link to a missing target" };
  return { hostPath: `${base}/${remaining.join("/")}`, remaining };
}
