/** Consecutive lines replaced by others. */
export interface LineChange {
  /** Position in the old and in the new text, from 0. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/**
 * Returns the changes from the old to the new text, in order. Texts too large to compare line by line yield one change.
 */
export function diffTextLines(
  oldLines: readonly string[],
  newLines: readonly string[],
): LineChange[] {
  const start = countSharedStart(oldLines, newLines);
  const end = countSharedStart(
    oldLines.slice(start).toReversed(),
    newLines.slice(start).toReversed(),
  );
  const removed = oldLines.slice(start, oldLines.length - end);
  const added = newLines.slice(start, newLines.length - end);
  if (removed.length + added.length === 0) return [];
  if (removed.length * added.length > MAX_COMPARISONS) {
    return [{ oldStart: start, newStart: start, removed, added }];
  }
  return findChanges(removed, added).map((change) => {
    return { ...change, oldStart: change.oldStart + start, newStart: change.newStart + start };
  });
}

/** Limit for line comparisons: about a few milliseconds. */
const MAX_COMPARISONS = 1_000_000;

function countSharedStart(lines: readonly string[], otherLines: readonly string[]): number {
  const at = lines.findIndex((line, index) => line !== otherLines[index]);
  return at === -1 ? Math.min(lines.length, otherLines.length) : at;
}

/** Finds the changes by a longest common subsequence, which keeps as many lines as possible. */
function findChanges(oldLines: readonly string[], newLines: readonly string[]): LineChange[] {
  const countKept = createKeptCounter(oldLines, newLines);
  const changes: LineChange[] = [];
  let [oldAt, newAt] = [0, 0];
  while (oldAt < oldLines.length || newAt < newLines.length) {
    const [first, second] = [oldAt, newAt];
    while (
      (oldAt < oldLines.length || newAt < newLines.length) &&
      (oldAt === oldLines.length ||
        newAt === newLines.length ||
        oldLines[oldAt] !== newLines[newAt])
    ) {
      const isRemoved =
        newAt === newLines.length ||
        (oldAt < oldLines.length && countKept(oldAt + 1, newAt) >= countKept(oldAt, newAt + 1));
      if (isRemoved) oldAt += 1;
      else newAt += 1;
    }
    if (oldAt > first || newAt > second) {
      const removed = oldLines.slice(first, oldAt);
      const added = newLines.slice(second, newAt);
      changes.push({ oldStart: first, newStart: second, removed, added });
    }
    while (
      oldAt < oldLines.length &&
      newAt < newLines.length &&
      oldLines[oldAt] === newLines[newAt]
    ) {
      oldAt += 1;
      newAt += 1;
    }
  }
  return changes;
}

/** Returns a function which counts the lines that both texts can keep, starting at two positions. */
function createKeptCounter(
  oldLines: readonly string[],
  newLines: readonly string[],
): (oldAt: number, newAt: number) => number {
  const width = newLines.length + 1;
  const table = new Uint32Array((oldLines.length + 1) * width);
  const countKept = (oldAt: number, newAt: number): number => table[oldAt * width + newAt] ?? 0;
  for (let oldAt = oldLines.length - 1; oldAt >= 0; oldAt--) {
    for (let newAt = newLines.length - 1; newAt >= 0; newAt--) {
      const isSame = oldLines[oldAt] === newLines[newAt];
      table[oldAt * width + newAt] = isSame
        ? countKept(oldAt + 1, newAt + 1) + 1
        : Math.max(countKept(oldAt + 1, newAt), countKept(oldAt, newAt + 1));
    }
  }
  return countKept;
}
