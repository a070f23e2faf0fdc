import type { PathFact } from "../../domain/policy/policy-decision.ts";
import {
  matchesPath,
  mayMatchPath,
  mayMatchBelow,
  splitSegments,
  type PathPattern,
  type Segments,
} from "./path-pattern.ts";

/**
 * Exact matching (`allow` rules): compares only the resolved location, with symlinks followed, never the model's
 * spelling. A backslash is a separator on some systems and an ordinary character on others, so a path with a backslash
 * is never allowed.
 */
export function isAllowedPath(patterns: readonly PathPattern[], fact: PathFact): boolean {
  if (fact.input.includes("\\")) return false;
  return patterns.some((pattern) => {
    const inWorkspace = fact.location === "inside" ? fact.workspacePath : null;
    const path = pattern.isAbsolute ? fact.hostPath : inWorkspace;
    if (path === null || path.includes("\\")) return false;
    return matchesPath(pattern, splitSegments(pattern.isAbsolute ? path.slice(1) : path));
  });
}

/**
 * Conservative matching (`deny` and `ask` rules): compares the resolved location and the written path, in every
 * spelling.
 */
export function mayNamePath(
  patterns: readonly PathPattern[],
  fact: PathFact,
  affectsFolders: boolean,
): boolean {
  return patterns.some((pattern) =>
    listPathNames(fact, pattern.isAbsolute).some(
      (name) =>
        mayMatchPath(pattern, name) ||
        // Moving or deleting a folder affects everything in it.
        (affectsFolders && mayMatchBelow(pattern, name)),
    ),
  );
}

/**
 * All names of a path, relative to the workspace or from the root. Cached per fact, since every rule reads the list.
 */
function listPathNames(fact: PathFact, isAbsolute: boolean): readonly Segments[] {
  const cache = isAbsolute ? ROOTED_NAMES : RELATIVE_NAMES;
  const names = cache.get(fact) ?? computePathNames(fact, isAbsolute);
  cache.set(fact, names);
  return names;
}

const RELATIVE_NAMES = new WeakMap<PathFact, readonly Segments[]>();
const ROOTED_NAMES = new WeakMap<PathFact, readonly Segments[]>();

function computePathNames(fact: PathFact, isAbsolute: boolean): readonly Segments[] {
  const { location, input, workspacePath, hostPath } = fact;
  const names = isAbsolute
    ? [hostPath, isRooted(input) ? input : null]
    : [workspacePath, isRooted(input) ? null : input, location === "outside" ? hostPath : null];
  const spellings = names.filter((name) => name !== null).flatMap(listSpellings);
  return [...new Set(spellings)].map(splitSegments);
}

export function isRooted(path: string): boolean {
  return /^([/\\]|[A-Za-z]:)/.test(path);
}

/**
 * The path as written; with backslashes as separators; and as Windows reads it, without trailing dots and spaces in
 * names.
 */
function listSpellings(path: string): string[] {
  const slashed = path.replaceAll("\\", "/");
  const trimmed = slashed.split("/").map((name) => name.replace(/(?<=[^. ])[. ]+$/, ""));
  return [path.split("/"), slashed.split("/"), trimmed].map((names) => normalizePath(names));
}

/** Removes `.`, `..` and empty names. */
function normalizePath(names: readonly string[]): string {
  const segments: string[] = [];
  for (const name of names) {
    if (name === "..") segments.pop();
    else if (name !== "" && name !== ".") segments.push(name);
  }
  return segments.join("/");
}
