import type { LineMatcher } from "./line-matcher.ts";

export interface MatchOptions {
  readonly matcher: LineMatcher;
  readonly contextLines: number;
  readonly most: number;
}

export interface Matches {
  /** The numbers of the lines that match. */
  readonly lines: readonly number[];
  /** Those lines and the ones around them: `12: text`, `13- text`, and `--` where some are left out. */
  readonly shown: readonly string[];
  readonly longLines: number;
  /** Time was up. */
  readonly isCut: boolean;
}

export interface FileMatches extends Matches {
  readonly path: string;
}

export interface Pacing {
  readonly rest: () => Promise<void> | undefined;
  /** Whether it has to end. */
  readonly until: () => boolean;
}

export async function matchesIn(
  text: string,
  { matcher, contextLines, most }: MatchOptions,
  { rest, until }: Pacing,
): Promise<Matches> {
  const all = text.split("\n");
  const lines: number[] = [];
  let longLines = 0;
  let isCut = false;
  for (const [at, line] of all.entries()) {
    if (at % LINES_BETWEEN === 0 || line.length > LONG_LINE) {
      await rest();
      isCut = until();
    }
    if (isCut || lines.length >= most) break;
    if (at === all.length - 1 && line === "") break;
    const isLong = line.length > matcher.lineCharacters;
    if (isLong) longLines += 1;
    if (matcher.matches(isLong ? line.slice(0, matcher.lineCharacters) : withoutReturn(line))) {
      lines.push(at + 1);
    }
  }
  return { lines, shown: shownLines(all, lines, contextLines), longLines, isCut };
}

/** Looking at the clock takes longer than looking at a line. */
const LINES_BETWEEN = 64;
const LONG_LINE = 1000;

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function shownLines(all: readonly string[], lines: readonly number[], context: number): string[] {
  const matching = new Set(lines);
  const shown: string[] = [];
  let last = 0;
  for (const line of lines) {
    const from = Math.max(line - context, last + 1);
    if (context > 0 && last > 0 && from > last + 1) shown.push("--");
    for (let number = from; number <= Math.min(line + context, all.length); number++) {
      const text = withoutReturn(all[number - 1] ?? "");
      if (number === all.length && text === "") break;
      shown.push(`${number}${matching.has(number) ? ":" : "-"} ${text}`);
      last = number;
    }
  }
  return shown;
}
