/** Consecutive items of a list, replaced by others. Items are lines of a text, or words of a line. */
export interface ListChange {
  /** Position in the old and in the new list, from 0. */
  readonly oldStart: number;
  readonly newStart: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/**
 * Returns the changes from the old to the new list, in order: as few changed items as possible. Between two changes is
 * at least one unchanged item. Lists with too many changes yield one change for everything between the shared start
 * and the shared end.
 */
export function diffLists(oldItems: readonly string[], newItems: readonly string[]): ListChange[] {
  const start = countSharedStart(oldItems, newItems);
  const end = countSharedEnd(oldItems, newItems, start);
  const removed = oldItems.slice(start, oldItems.length - end);
  const added = newItems.slice(start, newItems.length - end);
  if (removed.length + added.length === 0) return [];
  const whole: ListChange = { oldStart: start, newStart: start, removed, added };
  if (removed.length === 0 || added.length === 0) return [whole];
  const shared = findSharedItems(removed, added);
  if (shared === undefined) return [whole];
  return collectChanges(whole, shared);
}

/**
 * Limit for removed and added items together. Time grows with the number of changes times the length of the lists,
 * memory with the square of the number of changes: 4 MB at the limit.
 */
const MAX_CHANGED_ITEMS = 1000;

function countSharedStart(items: readonly string[], otherItems: readonly string[]): number {
  const at = items.findIndex((item, index) => item !== otherItems[index]);
  return at === -1 ? Math.min(items.length, otherItems.length) : at;
}

function countSharedEnd(
  items: readonly string[],
  otherItems: readonly string[],
  start: number,
): number {
  const limit = Math.min(items.length, otherItems.length) - start;
  let count = 0;
  while (count < limit && items.at(-1 - count) === otherItems.at(-1 - count)) count += 1;
  return count;
}

/** An item at these positions is in both lists. */
interface SharedItem {
  readonly oldAt: number;
  readonly newAt: number;
}

/**
 * Finds a longest common subsequence by Myers' greedy algorithm ("An O(ND) difference algorithm and its variations",
 * 1986). `reach[d]` holds, for each diagonal, the furthest position in the old list after `d` changed items. Undefined
 * if there are too many changes.
 */
function findSharedItems(
  oldItems: readonly string[],
  newItems: readonly string[],
): SharedItem[] | undefined {
  const reach: Int32Array[] = [];
  const limit = Math.min(MAX_CHANGED_ITEMS, oldItems.length + newItems.length);
  for (let changes = 0; changes <= limit; changes++) {
    const previous = reach.at(-1);
    const furthest = new Int32Array(2 * changes + 1);
    reach.push(furthest);
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let oldAt = isInsertion(previous, diagonal, changes)
        ? readReach(previous, diagonal + 1)
        : readReach(previous, diagonal - 1) + 1;
      let newAt = oldAt - diagonal;
      while (isShared(oldItems, oldAt, newItems, newAt)) {
        oldAt += 1;
        newAt += 1;
      }
      furthest[diagonal + changes] = oldAt;
      if (oldAt >= oldItems.length && newAt >= newItems.length)
        return walkBack(reach, oldItems.length, newItems.length);
    }
  }
  return undefined;
}

function isShared(
  oldItems: readonly string[],
  oldAt: number,
  newItems: readonly string[],
  newAt: number,
): boolean {
  return oldAt < oldItems.length && newAt < newItems.length && oldItems[oldAt] === newItems[newAt];
}

/** Whether the best path to a diagonal ends with an added item, not with a removed one. */
function isInsertion(previous: Int32Array | undefined, diagonal: number, changes: number): boolean {
  if (diagonal === -changes) return true;
  if (diagonal === changes) return false;
  return readReach(previous, diagonal - 1) < readReach(previous, diagonal + 1);
}

/** The array of `d` changes covers the diagonals from -d to d. */
function readReach(furthest: Int32Array | undefined, diagonal: number): number {
  return furthest?.[diagonal + (furthest.length - 1) / 2] ?? 0;
}

/** Follows the path from the ends of both lists to their starts, and returns the shared items in order. */
function walkBack(reach: readonly Int32Array[], oldEnd: number, newEnd: number): SharedItem[] {
  const shared: SharedItem[] = [];
  let [oldAt, newAt] = [oldEnd, newEnd];
  for (let changes = reach.length - 1; changes >= 0; changes--) {
    const previous = reach[changes - 1];
    const diagonal = oldAt - newAt;
    const isAdded = isInsertion(previous, diagonal, changes);
    const before = diagonal + (isAdded ? 1 : -1);
    const oldBefore = changes === 0 ? 0 : readReach(previous, before);
    // The path makes its change first, then follows the shared items.
    const oldChanged = changes === 0 || isAdded ? oldBefore : oldBefore + 1;
    while (oldAt > oldChanged) {
      oldAt -= 1;
      newAt -= 1;
      shared.push({ oldAt, newAt });
    }
    [oldAt, newAt] = [oldBefore, oldBefore - before];
  }
  return shared.toReversed();
}

function collectChanges(whole: ListChange, shared: readonly SharedItem[]): ListChange[] {
  const { oldStart, newStart, removed, added } = whole;
  const changes: ListChange[] = [];
  let [oldAt, newAt] = [0, 0];
  for (const next of [...shared, { oldAt: removed.length, newAt: added.length }]) {
    if (next.oldAt > oldAt || next.newAt > newAt)
      changes.push({
        oldStart: oldStart + oldAt,
        newStart: newStart + newAt,
        removed: removed.slice(oldAt, next.oldAt),
        added: added.slice(newAt, next.newAt),
      });
    [oldAt, newAt] = [next.oldAt + 1, next.newAt + 1];
  }
  return changes;
}
