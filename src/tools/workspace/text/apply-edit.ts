export interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export type EditResult =
  | {
      readonly text: string;
      /** Line numbers of the replaced texts, starting at 1. */
      readonly lines: readonly number[];
      readonly problem?: undefined;
    }
  | { readonly problem: "no_match" | "unclear"; readonly message: string };

/** Replaces an exact text. Line ends may differ between the edit and the file; the file's line ends are kept. */
export function applyEdit(text: string, edit: Edit): EditResult {
  if (edit.oldText === "")
    return createProblem("no_match", "old_text is empty: expected the text to replace");
  if (edit.oldText === edit.newText) {
    return createProblem(
      "no_match",
      "old_text and new_text are the same; there is nothing to change",
    );
  }
  const ranges = findRanges(text, edit.oldText);
  const lines = toLineNumbers(text, ranges);
  if (ranges.length === 0) return createProblem("no_match", formatNotFound(text, edit.oldText));
  if (ranges.length > 1 && !edit.replaceAll) {
    const where = `${lines.slice(0, MAX_LINES).join(", ")}${lines.length > MAX_LINES ? ", …" : ""}`;
    const hint = "add surrounding lines to old_text until it is unique, or set replace_all";
    return createProblem(
      "unclear",
      `old_text occurs ${ranges.length} times, at lines ${where}; ${hint}`,
    );
  }
  const newText = usesCarriageReturns(text)
    ? edit.newText.replaceAll(/\r?\n/g, "\r\n")
    : edit.newText;
  return { text: replaceRanges(text, ranges, newText), lines };
}

const MAX_LINES = 10;

interface Range {
  readonly start: number;
  readonly end: number;
}

function findRanges(text: string, oldText: string): readonly Range[] {
  const isMixed = text.includes("\r\n") ? oldText.includes("\n") : oldText.includes("\r\n");
  if (!isMixed) return findOccurrences(text, oldText);
  // Models write `\n` for any file. Matched literally, a match would start after a carriage return and leave it behind.
  const returns = findCarriageReturns(text);
  const place = (at: number): number => at + countBelow(returns, at);
  return findOccurrences(text.replaceAll("\r\n", "\n"), oldText.replaceAll("\r\n", "\n")).map(
    ({ start, end }) => ({ start: place(start), end: place(end) }),
  );
}

function findOccurrences(text: string, needle: string): Range[] {
  const ranges: Range[] = [];
  let at = text.indexOf(needle);
  while (at !== -1) {
    ranges.push({ start: at, end: at + needle.length });
    at = text.indexOf(needle, at + needle.length);
  }
  return ranges;
}

/** Positions of carriage returns, measured in the text without them. */
function findCarriageReturns(text: string): readonly number[] {
  const places: number[] = [];
  let at = text.indexOf("\r\n");
  while (at !== -1) {
    places.push(at - places.length);
    at = text.indexOf("\r\n", at + 2);
  }
  return places;
}

function countBelow(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? limit) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether at least half of the lines end with `\r\n`. */
function usesCarriageReturns(text: string): boolean {
  const returns = text.split("\r\n").length - 1;
  return returns > 0 && returns * 2 >= text.split("\n").length - 1;
}

function replaceRanges(text: string, ranges: readonly Range[], newText: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const range of ranges) {
    pieces.push(text.slice(end, range.start), newText);
    end = range.end;
  }
  pieces.push(text.slice(end));
  return pieces.join("");
}

function toLineNumbers(text: string, ranges: readonly Range[]): number[] {
  const numbers: number[] = [];
  let line = 1;
  let at = 0;
  for (const { start } of ranges) {
    for (let next = text.indexOf("\n", at); next !== -1 && next < start;) {
      line += 1;
      at = next + 1;
      next = text.indexOf("\n", at);
    }
    numbers.push(line);
  }
  return numbers;
}

function formatNotFound(text: string, oldText: string): string {
  const nearest = findNearestLine(text, oldText);
  const message = "old_text is not in the file: it must match exactly, including white space";
  return nearest === undefined
    ? message
    : `${message}. The most similar line is ${nearest.line}: ${nearest.text}`;
}

function createProblem(problem: "no_match" | "unclear", message: string): EditResult {
  return { problem, message };
}

/** Finds the line most similar to the first non-empty line of `needle`. Undefined if no line is similar enough. */
export function findNearestLine(
  text: string,
  needle: string,
): { readonly line: number; readonly text: string } | undefined {
  const first = needle.split("\n").find((line) => line.trim() !== "");
  if (first === undefined) return undefined;
  const pairs = listPairs(first);
  let best = { line: 0, text: "", likeness: MIN_SIMILARITY };
  // Only the first 20,000 lines are compared, to bound the time.
  for (const [at, line] of text.split("\n", MAX_SCANNED_LINES).entries()) {
    const likeness = computeSimilarity(pairs, listPairs(line));
    if (likeness > best.likeness) best = { line: at + 1, text: line, likeness };
  }
  if (best.line === 0) return undefined;
  return { line: best.line, text: JSON.stringify(best.text.slice(0, MAX_LINE_LENGTH)) };
}

const MAX_SCANNED_LINES = 20_000;
const MAX_LINE_LENGTH = 200;
const MIN_SIMILARITY = 0.4;

/** Pairs of adjacent characters. White space is ignored, since it differs most often. */
function listPairs(line: string): ReadonlySet<string> {
  const letters = line.slice(0, MAX_LINE_LENGTH).replaceAll(/\s+/g, "");
  if (letters.length === 1) return new Set([letters]);
  return new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
}

function computeSimilarity(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  if (first.size === 0 || second.size === 0) return 0;
  let shared = 0;
  for (const pair of first) if (second.has(pair)) shared += 1;
  return (2 * shared) / (first.size + second.size);
}
