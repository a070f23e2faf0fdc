import { diffLists, type ListChange } from "../../../text/diff-lists.ts";
import { pluralize } from "../../../text/pluralize.ts";
import type { FileDiff } from "../../../domain/tools/tool-output.ts";
import { toSingleLine, type Style } from "../../../inspect/trace-style.ts";

export interface DiffLimits {
  /** Limit for hunks per file. */
  readonly hunks: number;
  /** Limit for removed and for added lines per change. */
  readonly lines: number;
  /** Limit for characters per line. */
  readonly characters: number;
}

/** Formats the file changes of a tool call briefly: unchanged lines outside the hunks are omitted. */
export function formatDiff(
  { path, oldText, newText }: FileDiff,
  style: Style,
  limits: DiffLimits = SHORT_DIFF,
): string[] {
  const [oldLines, newLines] = splitBothTexts(oldText ?? "", newText);
  const hunks = groupHunks(diffLists(oldLines, newLines));
  const [first] = hunks;
  const name = toSingleLine(path);
  if (oldText !== null && first === undefined) return [style.strong(`${name} (no changes)`)];
  const position = oldText === null ? "new" : formatPosition(first);
  const omitted = hunks.length - limits.hunks;
  return [
    style.strong(`${name} (${position})`),
    ...hunks
      .slice(0, limits.hunks)
      .flatMap((hunk, at) => [
        ...(at === 0 ? [] : [style.strong(`… ${formatPosition(hunk)}`)]),
        ...formatHunk(hunk, newLines, { style, most: limits }),
      ]),
    ...(omitted > 0 ? [style.strong(`… ${pluralize(omitted, "more hunk")}`)] : []),
  ];
}

const CONTEXT = 2;
const SHORT_DIFF: DiffLimits = { hunks: 10, lines: 20, characters: 200 };

/** Changes separated by few lines, all of which are shown. */
type Hunk = readonly ListChange[];

function groupHunks(changes: readonly ListChange[]): Hunk[] {
  const hunks: ListChange[][] = [];
  for (const change of changes) {
    const last = hunks.at(-1)?.at(-1);
    const isNear = last !== undefined && change.newStart - changeEnd(last) <= 2 * CONTEXT;
    if (isNear) hunks.at(-1)?.push(change);
    else hunks.push([change]);
  }
  return hunks;
}

function changeEnd({ newStart, added }: ListChange): number {
  return newStart + added.length;
}

/** The position in the current file. */
function formatPosition(hunk: Hunk | undefined): string {
  return `from line ${Math.max(0, (hunk?.[0]?.oldStart ?? 0) - CONTEXT) + 1}`;
}

function formatHunk(
  hunk: Hunk,
  newLines: readonly string[],
  { style, most: limits }: { readonly style: Style; readonly most: DiffLimits },
): string[] {
  const context = (from: number, to: number): string[] =>
    newLines.slice(Math.max(0, from), to).map((line) => style.dim(formatLine(" ", line, limits)));
  return hunk.flatMap((change, at) => {
    const next = hunk[at + 1];
    const end = changeEnd(change);
    return [
      ...(at === 0 ? context(change.newStart - CONTEXT, change.newStart) : []),
      ...cutLines(
        change.removed.map((line) => style.bad(formatLine("-", line, limits))),
        limits,
      ),
      ...cutLines(
        change.added.map((line) => style.good(formatLine("+", line, limits))),
        limits,
      ),
      ...context(end, next?.newStart ?? end + CONTEXT),
    ];
  });
}

/** If only one text ends with a newline, the newline counts as a separate line. */
function splitBothTexts(oldText: string, newText: string): [string[], string[]] {
  const hasLineEndChange =
    oldText !== "" && newText !== "" && oldText.endsWith("\n") !== newText.endsWith("\n");
  const lines = (text: string): string[] => {
    if (text === "") return [];
    const all = text.replace(/\n$/, "").split("\n");
    return hasLineEndChange && text.endsWith("\n") ? [...all, LINE_END] : all;
  };
  return [lines(oldText), lines(newText)];
}

/** Marker for the final newline. No line contains a newline itself. */
const LINE_END = "\n";

/** Escapes and shortens a line: file contents must neither control the terminal nor fill it. */
function formatLine(sign: string, line: string, { characters }: DiffLimits): string {
  if (line === LINE_END) return `${sign} [newline at end of file]`;
  const short = line.length > characters ? `${line.slice(0, characters)}…` : line;
  return `${sign} ${toSingleLine(short.replaceAll("\t", "  "))}`;
}

function cutLines(lines: readonly string[], limits: DiffLimits): string[] {
  const omitted = lines.length - limits.lines;
  if (omitted <= 1) return [...lines];
  return [...lines.slice(0, limits.lines), `  … ${pluralize(omitted, "more line")}`];
}
