/** Says of a path, from the folder that is looked through, whether it is meant. */
export type Glob = (path: string) => boolean;

export type GlobResult =
  | { readonly glob: Glob; readonly problem?: undefined }
  | { readonly problem: string };

/**
 * Reads a pattern with `*`, `**`, `?`, `[…]` and `{…,…}`. One without `/` means the name alone, at any depth.
 *
 * What it means is picomatch's; but `*a*a*a*b` took 1.7 s on one name with the expression that picomatch makes for V8,
 * and patterns come from a model. So that expression, less the parts that RE2 does not have, is matched in linear time.
 */
export async function readGlob(pattern: string): Promise<GlobResult> {
  if (pattern === "" || pattern.length > MAX_PATTERN_LENGTH) {
    return { problem: `a glob has 1 to ${MAX_PATTERN_LENGTH} characters` };
  }
  // Loaded with the first pattern: few starts need them.
  const [{ default: picomatch }, { RE2JS }] = await Promise.all([
    import("picomatch"),
    import("re2js"),
  ]);
  const { source } = picomatch.makeRe(pattern, {
    dot: true,
    noextglob: true,
    nonegate: true,
    posix: true,
  });
  // What picomatch says when it cannot make an expression.
  if (source === "$^") return { problem: "the glob has a bracket without its other half" };
  const isName = !pattern.includes("/");
  try {
    const expression = RE2JS.compile(removeLookaheads(source), RE2JS.DOTALL);
    return {
      glob: (path) => expression.matches(isName ? path.slice(path.lastIndexOf("/") + 1) : path),
    };
  } catch {
    return { problem: "the glob cannot be understood; use *, **, ?, […] and {…,…}" };
  }
}

const MAX_PATTERN_LENGTH = 500;

/** Without what forbids `.`, `..` and empty names: a path that was walked has none of them. */
function removeLookaheads(source: string): string {
  // Only at the end does it matter that something has to follow.
  const withSimpleEnd = source.replace(String.raw`(?=.)[^/]*?\/?)$`, "[^/]+?)$");
  return LOOKAHEADS.reduce((text, lookahead) => text.replaceAll(lookahead, ""), withSimpleEnd);
}

const LOOKAHEADS = [
  String.raw`(?!(?:^|\/)\.{1,2}(?:\/|$))`,
  String.raw`(?!\.{1,2}(?:\/|$))`,
  String.raw`(?!\.{0,1}(?:\/|$))`,
  "(?=.)",
];
