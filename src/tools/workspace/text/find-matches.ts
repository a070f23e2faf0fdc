import type { LineMatcher } from "./line-matcher.ts";

export interface MatchOptions {
  readonly matcher: LineMatcher;
  readonly contextLines: number;
  readonly maxMatches: number;
}

export interface Matches {
  /** Numbers of the matching lines. */
  readonly lines: readonly number[];
  /** Matching lines with their context: `12: text`, `13- text`, and `--` between separate parts. */
  readonly displayLines: readonly string[];
  readonly longLines: number;
  /** Whether the search ended at the time limit. */
  readonly isTruncated: boolean;
}

export interface FileMatches extends Matches {
  readonly path: string;
}

export interface MatchPacing {
  readonly yieldToLoop: () => Promise<void> | undefined;
  /** Whether the time limit is reached. */
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

/** Reading the clock costs more than matching a line. */
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
