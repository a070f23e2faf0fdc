/** Matches the lines of a text. */
export interface LineMatcher {
  matches(line: string): boolean;
  /** Characters of a line examined; the rest is ignored. */
  readonly lineCharacters: number;
  /** Fast pre-check: false if no line of the text can match. */
  mayMatchText(text: string): boolean;
}

export type PatternResult =
  | { readonly matcher: LineMatcher; readonly problem?: undefined }
  | { readonly problem: string };

export interface PatternOptions {
  readonly isLiteral: boolean;
  readonly ignoreCase: boolean;
}

/** Creates a matcher for an RE2 expression, which takes linear time for any pattern, or for a literal string. */
export async function readPattern(
  pattern: string,
  { isLiteral, ignoreCase }: PatternOptions,
): Promise<PatternResult> {
  if (pattern === "" || pattern.length > MAX_PATTERN_LENGTH) {
    return { problem: `a pattern has 1 to ${MAX_PATTERN_LENGTH} characters` };
  }
  if (/[\r\n]/.test(pattern))
    return { problem: "a pattern is matched line by line and cannot contain a line break" };
  if (isLiteral && !ignoreCase) return { matcher: createLiteralMatcher(pattern) };
  const { RE2JS } = await import("re2js");
  try {
    const source = isLiteral ? RE2JS.quote(pattern) : pattern;
    const expression = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const size = expression.programSize();
    if (size > MAX_INSTRUCTIONS)
      return { problem: "the pattern is too large; use fewer repetitions" };
    const lineCharacters = Math.min(MAX_LINE_CHARACTERS, Math.floor(MAX_WORK / size));
    const matches = (line: string): boolean => expression.matcher(line).find();
    return { matcher: { matches, lineCharacters, mayMatchText: () => true } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      problem: `the pattern is not a valid RE2 regular expression: ${reason.slice(0, 200)}`,
    };
  }
}

const MAX_PATTERN_LENGTH = 1000;
/** `x{1000}` alone has a thousand instructions. */
const MAX_INSTRUCTIONS = 2000;
const MAX_LINE_CHARACTERS = 20_000;
/** Instructions times characters, at up to 40 ns each. Matching a line blocks the event loop. */
const MAX_WORK = 2_000_000;

function createLiteralMatcher(needle: string): LineMatcher {
  return {
    matches: (line) => line.includes(needle),
    lineCharacters: Number.POSITIVE_INFINITY,
    mayMatchText: (text) => text.includes(needle),
  };
}
