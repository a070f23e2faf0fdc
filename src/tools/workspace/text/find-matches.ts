import type { LineMatcher } from "./line-matcher.ts";

export interface MatchOptions {
  readonly matcher: LineMatcher;
  readonly contextLines: number;
  readonly maxMatches: number;
}

export interface Matches {
  /** The numbers of the lines that match. */
  readonly lines: readonly number[];
  /** Those lines and the ones around them: `12: text`, `13- text`, and `--` where some are left out. */
  readonly displayLines: readonly string[];
  readonly longLines: number;
  /** Time was up. */
  readonly isTruncated: boolean;
}

export interface FileMatches extends Matches {
  readonly path: string;
}

export interface MatchPacing {
  readonly yieldToLoop: () => Promise<void> | undefined;
  /** Whether it has to end. */
  readonly isTimeUp: () => boolean;
}

export async function findMatches(
  text: string,
  { matcher, contextLines, maxMatches }: MatchOptions,
  { yieldToLoop, isTimeUp }: MatchPacing,
): Promise<Matches> {
  const all = text.split("\n");
  const lines: number[] = [];
  let longLines = 0;
  let isTruncated = false;
  for (const [at, line] of all.entries()) {
    if (at % CLOCK_CHECK_LINES === 0 || line.length > LONG_LINE_LENGTH) {
      await yieldToLoop();
      isTruncated = isTimeUp();
    }
    if (isTruncated || lines.length >= maxMatches) break;
    if (at === all.length - 1 && line === "") break;
    const isLong = line.length > matcher.lineCharacters;
    if (isLong) longLines += 1;
    if (
      matcher.matches(isLong ? line.slice(0, matcher.lineCharacters) : trimCarriageReturn(line))
    ) {
      lines.push(at + 1);
    }
  }
  return { lines, displayLines: formatMatches(all, lines, contextLines), longLines, isTruncated };
}

/** Looking at the clock takes longer than looking at a line. */
const CLOCK_CHECK_LINES = 64;
const LONG_LINE_LENGTH = 1000;

function trimCarriageReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function formatMatches(
  all: readonly string[],
  lines: readonly number[],
  context: number,
): string[] {
  const matching = new Set(lines);
  const shownIndexes: string[] = [];
  let last = 0;
  for (const line of lines) {
    const from = Math.max(line - context, last + 1);
    if (context > 0 && last > 0 && from > last + 1) shownIndexes.push("--");
    for (let number = from; number <= Math.min(line + context, all.length); number++) {
      const text = trimCarriageReturn(all[number - 1] ?? "");
      if (number === all.length && text === "") break;
      shownIndexes.push(`${number}${matching.has(number) ? ":" : "-"} ${text}`);
      last = number;
    }
  }
  return shownIndexes;
}
