/** Says whether a line has what is looked for. */
export interface LineMatcher {
  matches(line: string): boolean;
  /** Of a longer line only so much is looked at. */
  readonly lineCharacters: number;
  /** Quickly, whether any line of a text can have it. */
  mayBeIn(text: string): boolean;
}

export type ReadPattern =
  | { readonly matcher: LineMatcher; readonly problem?: undefined }
  | { readonly problem: string };

export interface PatternOptions {
  readonly isLiteral: boolean;
  readonly ignoreCase: boolean;
}

/** A pattern of RE2, which takes time in proportion to the text whatever the pattern, or a text as it is. */
export async function readPattern(
  pattern: string,
  { isLiteral, ignoreCase }: PatternOptions,
): Promise<ReadPattern> {
  if (pattern === "" || pattern.length > MOST_CHARACTERS) {
    return { problem: `a pattern has 1 to ${MOST_CHARACTERS} characters` };
  }
  if (/[\r\n]/.test(pattern)) return { problem: "a pattern is looked for in single lines" };
  if (isLiteral && !ignoreCase) return { matcher: literalMatcher(pattern) };
  const { RE2JS } = await import("re2js");
  try {
    const source = isLiteral ? RE2JS.quote(pattern) : pattern;
    const expression = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const size = expression.programSize();
    if (size > MOST_INSTRUCTIONS) return { problem: "the pattern is too large; repeat less" };
    const lineCharacters = Math.min(MOST_LINE_CHARACTERS, Math.floor(MOST_WORK / size));
    const matches = (line: string): boolean => expression.matcher(line).find();
    return { matcher: { matches, lineCharacters, mayBeIn: () => true } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `the pattern is no regular expression of RE2: ${reason.slice(0, 200)}` };
  }
}

const MOST_CHARACTERS = 1000;
/** `x{1000}` alone has a thousand. */
const MOST_INSTRUCTIONS = 2000;
const MOST_LINE_CHARACTERS = 20_000;
/** Instructions times characters: 40 ns each when it is bad, and the event loop waits for one line. */
const MOST_WORK = 2_000_000;

function literalMatcher(wanted: string): LineMatcher {
  return {
    matches: (line) => line.includes(wanted),
    lineCharacters: Number.POSITIVE_INFINITY,
    mayBeIn: (text) => text.includes(wanted),
  };
}
