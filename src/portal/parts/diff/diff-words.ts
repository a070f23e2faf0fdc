import { diffLists } from "../../../text/diff-lists.ts";

export interface DiffSegment {
  readonly text: string;
  readonly isChanged: boolean;
}

export interface WordDiff {
  readonly removed: readonly DiffSegment[];
  readonly added: readonly DiffSegment[];
}

/** Marks the changed words of a line. Undefined for lines with little in common, where marks would be noise. */
export function diffWords(oldLine: string, newLine: string): WordDiff | undefined {
  if (oldLine.length + newLine.length > MAX_LENGTH) return undefined;
  const oldWords = splitWords(oldLine);
  const newWords = splitWords(newLine);
  const changes = diffLists(oldWords, newWords);
  const removed = markWords(
    oldWords,
    changes.map((change) => ({ start: change.oldStart, count: change.removed.length })),
  );
  const added = markWords(
    newWords,
    changes.map((change) => ({ start: change.newStart, count: change.added.length })),
  );
  const shared = removed.filter(({ isChanged }) => !isChanged);
  const sharedLength = shared.reduce((sum, { text }) => sum + text.trim().length, 0);
  const shorter = Math.min(oldLine.trim().length, newLine.trim().length);
  return sharedLength * 3 >= shorter && shorter > 0 ? { removed, added } : undefined;
}

/** Characters of both lines together. */
const MAX_LENGTH = 2000;

function splitWords(line: string): readonly string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

interface MarkedRange {
  readonly start: number;
  readonly count: number;
}

function markWords(words: readonly string[], ranges: readonly MarkedRange[]): DiffSegment[] {
  const segments: DiffSegment[] = [];
  let at = 0;
  const add = (end: number, isChanged: boolean): void => {
    if (end > at) segments.push({ text: words.slice(at, end).join(""), isChanged });
    at = Math.max(at, end);
  };
  for (const { start, count } of ranges) {
    add(start, false);
    add(start + count, true);
  }
  add(words.length, false);
  return segments;
}
