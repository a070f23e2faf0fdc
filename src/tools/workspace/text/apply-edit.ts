import { nearestLine } from "./nearest-line.ts";

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export type Edited =
  | {
      readonly text: string;
      /** Where the replaced texts begin, counted from 1. */
      readonly lines: readonly number[];
      readonly problem?: undefined;
    }
  | { readonly problem: "no_match" | "unclear"; readonly message: string };

/** Replaces a text that has to be there exactly; lines may end differently, and keep the end that they have. */
export function applyEdit(text: string, edit: Edit): Edited {
  if (edit.oldText === "") return no("no_match", "old_text is empty; say what to replace");
  if (edit.oldText === edit.newText) {
    return no("no_match", "old_text and new_text are the same; there is nothing to change");
  }
  const found = rangesOf(text, edit.oldText);
  const lines = lineNumbers(text, found);
  if (found.length === 0) return no("no_match", notFound(text, edit.oldText));
  if (found.length > 1 && !edit.replaceAll) {
    const where = `${lines.slice(0, MOST_LINES).join(", ")}${lines.length > MOST_LINES ? ", …" : ""}`;
    const wish = "add lines around it to old_text until it is unique, or set replace_all";
    return no("unclear", `old_text is there ${found.length} times, at lines ${where}; ${wish}`);
  }
  const newText = endsWithReturns(text) ? edit.newText.replaceAll(/\r?\n/g, "\r\n") : edit.newText;
  return { text: replaced(text, found, newText), lines };
}

const MOST_LINES = 10;

interface Range {
  readonly start: number;
  readonly end: number;
}

function rangesOf(text: string, oldText: string): readonly Range[] {
  const isMixed = text.includes("\r\n") ? oldText.includes("\n") : oldText.includes("\r\n");
  if (!isMixed) return occurrences(text, oldText);
  // Models end lines with \n whatever the file does. Taken literally, that would begin after a return and leave it.
  const returns = returnsIn(text);
  const place = (at: number): number => at + countBelow(returns, at);
  return occurrences(text.replaceAll("\r\n", "\n"), oldText.replaceAll("\r\n", "\n")).map(
    ({ start, end }) => ({ start: place(start), end: place(end) }),
  );
}

function occurrences(text: string, wanted: string): Range[] {
  const ranges: Range[] = [];
  let at = text.indexOf(wanted);
  while (at !== -1) {
    ranges.push({ start: at, end: at + wanted.length });
    at = text.indexOf(wanted, at + wanted.length);
  }
  return ranges;
}

/** Where the returns before newlines would stand in the text without them. */
function returnsIn(text: string): readonly number[] {
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

/** Whether most lines end with \r\n. */
function endsWithReturns(text: string): boolean {
  const returns = text.split("\r\n").length - 1;
  return returns > 0 && returns * 2 >= text.split("\n").length - 1;
}

function replaced(text: string, ranges: readonly Range[], newText: string): string {
  const pieces: string[] = [];
  let end = 0;
  for (const range of ranges) {
    pieces.push(text.slice(end, range.start), newText);
    end = range.end;
  }
  pieces.push(text.slice(end));
  return pieces.join("");
}

function lineNumbers(text: string, ranges: readonly Range[]): number[] {
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

function notFound(text: string, oldText: string): string {
  const near = nearestLine(text, oldText);
  const message = "old_text is not in the file; it has to be there exactly, white space included";
  return near === undefined
    ? message
    : `${message}. The nearest is line ${near.line}: ${near.text}`;
}

function no(problem: "no_match" | "unclear", message: string): Edited {
  return { problem, message };
}
