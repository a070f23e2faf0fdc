/** Says of a path, from the folder that is looked through, whether it is meant. */
export type Glob = (path: string) => boolean;

export type ReadGlob =
  | { readonly glob: Glob; readonly problem?: undefined }
  | { readonly problem: string };

/**
 * Reads a pattern with `*`, `**`, `?`, `[…]` and `{…,…}`. One without `/` means the name alone, at any depth.
 *
 * What it means is picomatch's; but `*a*a*a*b` took 1.7 s on one name with the expression that picomatch makes for V8,
 * and patterns come from a model. So that expression, less the parts that RE2 does not have, is matched in linear time.
 */
export async function readGlob(pattern: string): Promise<ReadGlob> {
  if (pattern === "" || pattern.length > MOST_CHARACTERS) {
    return { problem: `a glob has 1 to ${MOST_CHARACTERS} characters` };
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
    const expression = RE2JS.compile(plain(source), RE2JS.DOTALL);
    return {
      glob: (path) => expression.matches(isName ? path.slice(path.lastIndexOf("/") + 1) : path),
    };
  } catch {
    return { problem: "the glob cannot be understood; use *, **, ?, […] and {…,…}" };
  }
}

const MOST_CHARACTERS = 500;

/** Without what forbids `.`, `..` and empty names: a path that was walked has none of them. */
function plain(source: string): string {
  // Only at the end does it matter that something has to follow.
  const ended = source.replace(String.raw`(?=.)[^/]*?\/?)$`, "[^/]+?)$");
  return LOOKAHEADS.reduce((text, lookahead) => text.replaceAll(lookahead, ""), ended);
}

const LOOKAHEADS = [
  String.raw`(?!(?:^|\/)\.{1,2}(?:\/|$))`,
  String.raw`(?!\.{1,2}(?:\/|$))`,
  String.raw`(?!\.{0,1}(?:\/|$))`,
  "(?=.)",
];
