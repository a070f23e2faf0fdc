import { fitsAnySpelling, fitsExactly, spelled, type Spelled } from "./wildcard.ts";

/**
 * A pattern of paths, taken apart: one list of segments for each way through its braces.
 *
 * Matched here and not by picomatch, which makes a regular expression of it: a path of the model's choosing then takes
 * seconds (`**` + `/*a*a*a*a*.key` on 200 letters), and a line break in a path gets it past `**`.
 */
export interface PathPattern {
  /** From the root of the machine; else from the workspace. */
  readonly isAbsolute: boolean;
  readonly ways: readonly Segments[];
  /** The same for what denies or asks: a plain name at the end also stands for all that lies below it. */
  readonly wideWays: readonly Segments[];
}

/** A path as its segments; the root itself has none. */
export type Segments = readonly Spelled[];

export function parsePathPattern(pattern: string): PathPattern {
  const isAbsolute = pattern.startsWith("/");
  const ways = waysThrough(isAbsolute ? pattern.slice(1) : pattern).map(segmentsOf);
  if (ways.length > MOST_WAYS) throw new Error(`${pattern} has too many braces`);
  const wideWays = ways.map((way) => (isPlainName(way.at(-1) ?? ANY) ? [...way, ANY] : way));
  return { isAbsolute, ways, wideWays };
}

export function segmentsOf(path: string): Segments {
  return path === "" || path === "." ? [] : path.split("/").map(spelled);
}

/** For rules that allow. */
export function fitsPath({ ways }: PathPattern, path: Segments): boolean {
  return ways.some((way) => fitsSegments(way, path, fitsExactly));
}

/** For rules that deny or ask: in any spelling. */
export function fitsPathWidely({ wideWays }: PathPattern, path: Segments): boolean {
  return wideWays.some((way) => fitsSegments(way, path, fitsAnySpelling));
}

/** Whether what a pattern speaks of lies below a path by the names that it begins with. */
export function liesBelow({ ways }: PathPattern, path: Segments): boolean {
  return ways.some((way) => {
    const wild = way.findIndex((segment) => !isPlainName(segment));
    const fixed = wild < 0 ? way : way.slice(0, wild);
    return (
      path.length < fixed.length &&
      path.every((name, at) => fitsAnySpelling(fixed[at] ?? ANY, name))
    );
  });
}

/** What is wrong with a pattern, for whoever wrote it. */
export function problemWithPathPattern(pattern: string): string | undefined {
  if (pattern.startsWith("!")) return "begins with !; there is no negation, use a rule that denies";
  if (/[@!+*?]\(/.test(pattern)) return "has an extended glob such as !(…); use *, **, ? and {a,b}";
  const [sign] = /[[\]|]/.exec(pattern) ?? [];
  if (sign !== undefined) return `has ${sign}; ${OTHER_CHOICES}`;
  const braces = problemWithBraces(pattern);
  if (braces !== undefined) return braces;
  const ways = waysThrough(pattern);
  if (ways.length > MOST_WAYS) return `has more than ${MOST_WAYS} ways through its braces`;
  for (const way of ways) {
    const problem = problemWithPlainPath(way);
    if (problem !== undefined) return problem;
    if (way.split("/").some((segment) => segment !== "**" && segment.includes("**")))
      return "has ** beside other characters; it has to stand alone between slashes";
  }
  return undefined;
}

/** What is wrong with a path in a policy, apart from the signs that are special in patterns. */
export function problemWithPlainPath(path: string): string | undefined {
  if (path.includes("\\")) return "has a backslash; separate folders with /";
  if (path.startsWith("~"))
    return "begins with ~; paths start in the workspace, or with / at the root";
  for (const segment of (path.startsWith("/") ? path.slice(1) : path).split("/")) {
    if (segment === "") return "has an empty segment; for a folder and all in it end with /**";
    if (segment === "." || segment === "..") return `has a segment ${segment}; write it without`;
  }
  return undefined;
}

const MOST_WAYS = 256;

/** A rule that denies `key[0-9]` would otherwise not deny `key1`, and nobody would notice. */
const OTHER_CHOICES =
  "character classes are not supported: write each choice, as in {a,b}, or ? for any one character, such as a bracket";

function problemWithBraces(pattern: string): string | undefined {
  const innermost = /\{([^{}]*)\}/;
  let rest = pattern;
  for (let found = innermost.exec(rest); found !== null; found = innermost.exec(rest)) {
    const choices = (found[1] ?? "").split(",");
    if (choices.length < 2 || choices.includes(""))
      return `has ${found[0]}; braces hold two or more choices, none of them empty`;
    rest = rest.replace(found[0], "x");
  }
  return /[{}]/.test(rest) ? "has a brace without its other half" : undefined;
}

/** Expands braces from the left. Stops soon after there are too many. */
function waysThrough(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (done.length + open.length > MOST_WAYS) return [...done, ...open, next];
    const expanded = expandFirst(next);
    if (expanded === undefined) done.push(next);
    else open.push(...expanded.toReversed());
  }
  return done;
}

/** The innermost braces first: what they hold has no braces itself. */
function expandFirst(pattern: string): string[] | undefined {
  const found = /\{([^{}]*)\}/.exec(pattern);
  if (found === null) return undefined;
  const [whole, inner = ""] = found;
  const before = pattern.slice(0, found.index);
  const after = pattern.slice(found.index + whole.length);
  return inner.split(",").map((choice) => `${before}${choice}${after}`);
}

function isPlainName({ exact }: Spelled): boolean {
  return !/[*?]/.test(exact);
}

const ANY = spelled("**");

/** `**` is any number of segments, even none. Takes time in proportion to both lengths, as `fits` does. */
function fitsSegments(
  pattern: Segments,
  path: Segments,
  fits: (pattern: Spelled, name: Spelled) => boolean,
): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let retry = 0;
  for (let name = path[next]; name !== undefined; name = path[next]) {
    const segment = pattern[at];
    if (segment?.exact === "**") {
      star = at++;
      retry = next;
    } else if (segment !== undefined && fits(segment, name)) {
      at++;
      next++;
    } else if (star >= 0) {
      at = star + 1;
      next = ++retry;
    } else return false;
  }
  while (pattern[at]?.exact === "**") at++;
  return at === pattern.length;
}
