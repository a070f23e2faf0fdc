/** Lines of a text that others take the place of. */
export interface LineChange {
  /** Where it stands in the one text and in the other, from 0. */
  readonly before: number;
  readonly after: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** What makes one text of another, in order. What is too much to be compared is one change. */
export function changedLines(before: readonly string[], after: readonly string[]): LineChange[] {
  const start = sharedStart(before, after);
  const end = sharedStart(before.slice(start).toReversed(), after.slice(start).toReversed());
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  if (removed.length + added.length === 0) return [];
  if (removed.length * added.length > MOST_COMPARED) {
    return [{ before: start, after: start, removed, added }];
  }
  return changesIn(removed, added).map((change) => {
    return { ...change, before: change.before + start, after: change.after + start };
  });
}

/** Of lines with lines: a few milliseconds. */
const MOST_COMPARED = 1_000_000;

function sharedStart(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((line, index) => line !== other[index]);
  return at === -1 ? Math.min(one.length, other.length) : at;
}

/** Keeps as many lines as can be kept. */
function changesIn(before: readonly string[], after: readonly string[]): LineChange[] {
  const kept = keptFrom(before, after);
  const changes: LineChange[] = [];
  let [at, other] = [0, 0];
  while (at < before.length || other < after.length) {
    const [first, second] = [at, other];
    while (
      (at < before.length || other < after.length) &&
      (at === before.length || other === after.length || before[at] !== after[other])
    ) {
      const isRemoved =
        other === after.length ||
        (at < before.length && kept(at + 1, other) >= kept(at, other + 1));
      if (isRemoved) at += 1;
      else other += 1;
    }
    if (at > first || other > second) {
      const removed = before.slice(first, at);
      const added = after.slice(second, other);
      changes.push({ before: first, after: second, removed, added });
    }
    while (at < before.length && other < after.length && before[at] === after[other]) {
      at += 1;
      other += 1;
    }
  }
  return changes;
}

/** How many lines can be kept of what is left of both, from there on. */
function keptFrom(
  before: readonly string[],
  after: readonly string[],
): (at: number, other: number) => number {
  const width = after.length + 1;
  const table = new Uint32Array((before.length + 1) * width);
  const kept = (at: number, other: number): number => table[at * width + other] ?? 0;
  for (let at = before.length - 1; at >= 0; at--) {
    for (let other = after.length - 1; other >= 0; other--) {
      const isSame = before[at] === after[other];
      table[at * width + other] = isSame
        ? kept(at + 1, other + 1) + 1
        : Math.max(kept(at + 1, other), kept(at, other + 1));
    }
  }
  return kept;
}
