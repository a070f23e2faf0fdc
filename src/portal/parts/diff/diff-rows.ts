import { diffLists, type ListChange } from "../../../text/diff-lists.ts";
import { diffWords, type DiffSegment } from "./diff-words.ts";
import type { FileDiff } from "../../../domain/tools/tool-output.ts";

/** One row of a unified diff. Line numbers start at 1. */
export type DiffRow =
  | {
      readonly kind: "same";
      readonly oldLine: number;
      readonly newLine: number;
      readonly text: string;
    }
  | {
      readonly kind: "removed" | "added";
      readonly line: number;
      readonly segments: readonly DiffSegment[];
    }
  /** Unchanged lines, folded. */
  | { readonly kind: "gap"; readonly rows: readonly DiffRow[] }
  /** The final line break is part of the change. */
  | { readonly kind: "note"; readonly text: string };

export interface DiffTable {
  readonly kind: "new" | "changed" | "emptied" | "same";
  readonly rows: readonly DiffRow[];
  readonly addedCount: number;
  readonly removedCount: number;
}

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** A gap shorter than this is shown. */
const MIN_GAP = 4;

/** Compares two versions of a file line by line, and the changed lines word by word. */
export function createDiffTable({ oldText, newText }: FileDiff): DiffTable {
  const oldLines = splitLines(oldText ?? "");
  const newLines = splitLines(newText);
  const changes = diffLists(oldLines, newLines);
  const rows = [...collectRows(changes, newLines), ...describeLineEnd(oldText ?? "", newText)];
  return {
    kind: readKind(oldText, newText),
    rows,
    addedCount: countLines(changes, "added"),
    removedCount: countLines(changes, "removed"),
  };
}

function readKind(oldText: string | null, newText: string): DiffTable["kind"] {
  if (oldText === null) return "new";
  if (oldText === newText) return "same";
  return newText === "" ? "emptied" : "changed";
}

function countLines(changes: readonly ListChange[], side: "added" | "removed"): number {
  return changes.reduce((sum, change) => sum + change[side].length, 0);
}

function splitLines(text: string): readonly string[] {
  if (text === "") return [];
  return text.replace(/\r?\n$/, "").split("\n");
}

function describeLineEnd(oldText: string, newText: string): DiffRow[] {
  if (oldText === "" || newText === "" || oldText.endsWith("\n") === newText.endsWith("\n"))
    return [];
  const change = newText.endsWith("\n") ? "added" : "removed";
  return [{ kind: "note", text: `Line break at the end of the file ${change}` }];
}

function collectRows(changes: readonly ListChange[], newLines: readonly string[]): DiffRow[] {
  const rows: DiffRow[] = [];
  let newAt = 0;
  let offset = 0;
  for (const [index, change] of changes.entries()) {
    const same = readSame(newLines, { from: newAt, to: change.newStart, offset });
    rows.push(...foldRows(same, index > 0, true), ...readChange(change));
    newAt = change.newStart + change.added.length;
    offset = change.oldStart + change.removed.length - newAt;
  }
  const same = readSame(newLines, { from: newAt, to: newLines.length, offset });
  return [...rows, ...foldRows(same, changes.length > 0, false)];
}

interface SameRange {
  readonly from: number;
  readonly to: number;
  /** Position in the old text minus position in the new text. */
  readonly offset: number;
}

function readSame(newLines: readonly string[], { from, to, offset }: SameRange): DiffRow[] {
  return newLines.slice(from, to).map((text, index) => {
    const newLine = from + index + 1;
    return { kind: "same", oldLine: newLine + offset, newLine, text };
  });
}

/** Folds all rows but those near a change before or after them. */
function foldRows(rows: readonly DiffRow[], hasBefore: boolean, hasAfter: boolean): DiffRow[] {
  const from = hasBefore ? CONTEXT : 0;
  const to = rows.length - (hasAfter ? CONTEXT : 0);
  if (to - from < MIN_GAP) return [...rows];
  return [...rows.slice(0, from), { kind: "gap", rows: rows.slice(from, to) }, ...rows.slice(to)];
}

/** A removed line is compared with the added line at the same position of the change. */
function readChange({ oldStart, newStart, removed, added }: ListChange): DiffRow[] {
  const pairs = Math.min(removed.length, added.length, MAX_COMPARED_LINES);
  const compared = removed
    .slice(0, pairs)
    .map((line, index) => diffWords(line, added[index] ?? ""));
  const toRows = (kind: "removed" | "added", lines: readonly string[], start: number): DiffRow[] =>
    lines.map((text, index) => ({
      kind,
      line: start + index + 1,
      segments: compared[index]?.[kind] ?? [{ text, isChanged: false }],
    }));
  return [...toRows("removed", removed, oldStart), ...toRows("added", added, newStart)];
}

/** Word comparisons per change. */
const MAX_COMPARED_LINES = 200;
