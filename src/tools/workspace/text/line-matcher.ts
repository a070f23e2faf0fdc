/** Says whether a line has what is looked for. */
export interface LineMatcher {
  matches(line: string): boolean;
  /** Of a longer line only so much is looked at. */
  readonly lineCharacters: number;
  /** Quickly, whether any line of a text can have it. */
  mayMatchText(text: string): boolean;
}

export type PatternResult =
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
): Promise<PatternResult> {
  if (pattern === "" || pattern.length > MAX_PATTERN_LENGTH) {
    return { problem: `a pattern has 1 to ${MAX_PATTERN_LENGTH} characters` };
  }
  if (/[\r\n]/.test(pattern)) return { problem: "a pattern is looked for in single lines" };
  if (isLiteral && !ignoreCase) return { matcher: createLiteralMatcher(pattern) };
  const { RE2JS } = await import("re2js");
  try {
    const source = isLiteral ? RE2JS.quote(pattern) : pattern;
    const expression = RE2JS.compile(source, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    const size = expression.programSize();
    if (size > MAX_INSTRUCTIONS) return { problem: "the pattern is too large; repeat less" };
    const lineCharacters = Math.min(MAX_LINE_CHARACTERS, Math.floor(MAX_WORK / size));
    const matches = (line: string): boolean => expression.matcher(line).find();
    return { matcher: { matches, lineCharacters, mayMatchText: () => true } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { problem: `the pattern is no regular expression of RE2: ${reason.slice(0, 200)}` };
  }
}

const MAX_PATTERN_LENGTH = 1000;
/** `x{1000}` alone has a thousand. */
const MAX_INSTRUCTIONS = 2000;
const MAX_LINE_CHARACTERS = 20_000;
/** Instructions times characters: 40 ns each when it is bad, and the event loop waits for one line. */
const MAX_WORK = 2_000_000;

function createLiteralMatcher(needle: string): LineMatcher {
  return {
    matches: (line) => line.includes(needle),
    lineCharacters: Number.POSITIVE_INFINITY,
    mayMatchText: (text) => text.includes(needle),
  };
}
