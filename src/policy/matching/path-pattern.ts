import {
  mayMatchInAnySpelling,
  matchesExactly,
  createSpelledText,
  type SpelledText,
} from "./wildcard.ts";

/**
 * A parsed path pattern: one list of segments for each expansion of its braces.
 *
 * Matching is implemented here instead of with picomatch, which compiles patterns to regular expressions: a path chosen
 * by the model can then take seconds (`**` + `/*a*a*a*a*.key` on 200 letters), and a line break in a path evades `**`.
 */
export interface PathPattern {
  /** From the root of the machine; otherwise relative to the workspace. */
  readonly isAbsolute: boolean;
  readonly variants: readonly Segments[];
  /** For conservative matching: a plain last name also matches everything below it. */
  readonly wideVariants: readonly Segments[];
}

/** A path split into segments. The root has none. */
export type Segments = readonly SpelledText[];

export function parsePathPattern(pattern: string): PathPattern {
  const isAbsolute = pattern.startsWith("/");
  const variants = expandBraces(isAbsolute ? pattern.slice(1) : pattern).map(splitSegments);
  if (variants.length > MAX_VARIANTS) throw new Error(`${pattern} has too many braces`);
  const wideVariants = variants.map((variant) =>
    isPlainName(variant.at(-1) ?? ANY_SEGMENTS) ? [...variant, ANY_SEGMENTS] : variant,
  );
  return { isAbsolute, variants, wideVariants };
}

export function splitSegments(path: string): Segments {
  return path === "" || path === "." ? [] : path.split("/").map(createSpelledText);
}

/** Exact matching (`allow` rules). */
export function matchesPath({ variants }: PathPattern, path: Segments): boolean {
  return variants.some((variant) => matchesSegments(variant, path, matchesExactly));
}

/** Conservative matching (`deny` and `ask` rules): any spelling matches. */
export function mayMatchPath({ wideVariants }: PathPattern, path: Segments): boolean {
  return wideVariants.some((variant) => matchesSegments(variant, path, mayMatchInAnySpelling));
}

/** Whether the pattern's fixed leading names lie below the path. */
export function mayMatchBelow({ variants: ways }: PathPattern, path: Segments): boolean {
  return ways.some((variant) => {
    const wild = variant.findIndex((segment) => !isPlainName(segment));
    const fixed = wild < 0 ? variant : variant.slice(0, wild);
    return (
      path.length < fixed.length &&
      path.every((name, at) => mayMatchInAnySpelling(fixed[at] ?? ANY_SEGMENTS, name))
    );
  });
}

/** Why a pattern is invalid, for its author. Undefined if it is valid. */
export function findPathPatternProblem(pattern: string): string | undefined {
  if (pattern.startsWith("!"))
    return "starts with !, but negation is not supported. Fix: use a rule that denies";
  if (/[@!+*?]\(/.test(pattern)) return "has an extended glob such as !(…); use *, **, ? and {a,b}";
  const [sign] = /[[\]|]/.exec(pattern) ?? [];
  if (sign !== undefined) return `has ${sign}; ${CHARACTER_CLASS_PROBLEM}`;
  const braces = findBraceProblem(pattern);
  if (braces !== undefined) return braces;
  const variants = expandBraces(pattern);
  if (variants.length > MAX_VARIANTS)
    return `has more than ${MAX_VARIANTS} expansions of its braces`;
  for (const variant of variants) {
    const problem = findPlainPathProblem(variant);
    if (problem !== undefined) return problem;
    if (variant.split("/").some((segment) => segment !== "**" && segment.includes("**")))
      return "has ** next to other characters; it has to stand alone between slashes";
  }
  return undefined;
}

/** Why a path in a policy is invalid, apart from pattern characters. Undefined if it is valid. */
export function findPlainPathProblem(path: string): string | undefined {
  if (path.includes("\\")) return "has a backslash; separate folders with /";
  if (path.startsWith("~"))
    return "begins with ~; paths start in the workspace, or with / at the root";
  for (const segment of (path.startsWith("/") ? path.slice(1) : path).split("/")) {
    if (segment === "") return "has an empty segment; for a folder and all in it end with /**";
    if (segment === "." || segment === "..") return `has a segment ${segment}; write it without`;
  }
  return undefined;
}

const MAX_VARIANTS = 256;

/** Read as plain text, a denied `key[0-9]` would not match `key1`, and its author would not notice. */
const CHARACTER_CLASS_PROBLEM =
  "character classes are not supported: write each choice, as in {a,b}, or ? for any one character, such as a bracket";

function findBraceProblem(pattern: string): string | undefined {
  const innermost = /\{([^{}]*)\}/;
  let rest = pattern;
  for (let brace = innermost.exec(rest); brace !== null; brace = innermost.exec(rest)) {
    const choices = (brace[1] ?? "").split(",");
    if (choices.length < 2 || choices.includes(""))
      return `has ${brace[0]}; braces hold two or more choices, none of them empty`;
    rest = rest.replace(brace[0], "x");
  }
  return /[{}]/.test(rest) ? "has a brace without its other half" : undefined;
}

/** Expands all braces. Stops soon after `MAX_VARIANTS`, so that the time is bounded. */
function expandBraces(pattern: string): string[] {
  const complete: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (complete.length + open.length > MAX_VARIANTS) return [...complete, ...open, next];
    const expanded = expandFirstBraces(next);
    if (expanded === undefined) complete.push(next);
    else open.push(...expanded.toReversed());
  }
  return complete;
}

/** Expands the first innermost braces, whose contents contain no braces. */
function expandFirstBraces(pattern: string): string[] | undefined {
  const braces = /\{([^{}]*)\}/.exec(pattern);
  if (braces === null) return undefined;
  const [whole, inner = ""] = braces;
  const prefix = pattern.slice(0, braces.index);
  const suffix = pattern.slice(braces.index + whole.length);
  return inner.split(",").map((choice) => `${prefix}${choice}${suffix}`);
}

function isPlainName({ exact }: SpelledText): boolean {
  return !/[*?]/.test(exact);
}

const ANY_SEGMENTS = createSpelledText("**");

/**
 * Matches segment by segment. `**` matches any number of segments, including none. The time is proportional to the
 * product of both lengths, as in `matchesWildcard`.
 */
function matchesSegments(
  pattern: Segments,
  path: Segments,
  matchesSegment: (pattern: SpelledText, name: SpelledText) => boolean,
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
    } else if (segment !== undefined && matchesSegment(segment, name)) {
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
