import type { PathFact } from "../domain/policy-decision.ts";
import {
  fitsPath,
  fitsPathWidely,
  liesBelow,
  segmentsOf,
  type PathPattern,
  type Segments,
} from "./path-pattern.ts";

/**
 * For rules that allow: only where the path leads, symlinks followed, and never how the model wrote it. A backslash is a
 * separator to some and a letter to others, so a path with one is never allowed.
 */
export function isAllowedPath(patterns: readonly PathPattern[], fact: PathFact): boolean {
  if (fact.input.includes("\\")) return false;
  return patterns.some((pattern) => {
    const inWorkspace = fact.place === "inside" ? fact.workspacePath : null;
    const path = pattern.isAbsolute ? fact.hostPath : inWorkspace;
    if (path === null || path.includes("\\")) return false;
    return fitsPath(pattern, segmentsOf(pattern.isAbsolute ? path.slice(1) : path));
  });
}

/** For rules that deny or ask: where the path leads and what it was called, in every spelling. */
export function isNamedPath(
  patterns: readonly PathPattern[],
  fact: PathFact,
  takesFolders: boolean,
): boolean {
  return patterns.some((pattern) =>
    namesOf(fact, pattern.isAbsolute).some(
      (name) =>
        fitsPathWidely(pattern, name) ||
        // Who moves or deletes a folder does it to all that is in it.
        (takesFolders && liesBelow(pattern, name)),
    ),
  );
}

/** Under what names a path goes, from the workspace or from the root. Every rule asks for them. */
function namesOf(fact: PathFact, isAbsolute: boolean): readonly Segments[] {
  const known = isAbsolute ? rooted : relative;
  const names = known.get(fact) ?? findNames(fact, isAbsolute);
  known.set(fact, names);
  return names;
}

const relative = new WeakMap<PathFact, readonly Segments[]>();
const rooted = new WeakMap<PathFact, readonly Segments[]>();

function findNames(fact: PathFact, isAbsolute: boolean): readonly Segments[] {
  const { place, input, workspacePath, hostPath } = fact;
  const names = isAbsolute
    ? [hostPath, isRooted(input) ? input : null]
    : [workspacePath, isRooted(input) ? null : input, place === "outside" ? hostPath : null];
  const spellings = names.filter((name) => name !== null).flatMap(spellingsOf);
  return [...new Set(spellings)].map(segmentsOf);
}

export function isRooted(path: string): boolean {
  return /^([/\\]|[A-Za-z]:)/.test(path);
}

/** As it stands; with backslashes as separators; and as Windows reads it, without dots and spaces at the end of names. */
function spellingsOf(path: string): string[] {
  const slashed = path.replaceAll("\\", "/");
  const trimmed = slashed.split("/").map((name) => name.replace(/(?<=[^. ])[. ]+$/, ""));
  return [path.split("/"), slashed.split("/"), trimmed].map((names) => plain(names));
}

/** Without `.`, `..` and empty names. */
function plain(names: readonly string[]): string {
  const kept: string[] = [];
  for (const name of names) {
    if (name === "..") kept.pop();
    else if (name !== "" && name !== ".") kept.push(name);
  }
  return kept.join("/");
}
