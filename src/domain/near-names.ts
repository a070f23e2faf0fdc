/** The names that somebody may have meant, the likeliest first. */
export function nearNames(meant: string, names: readonly string[]): string[] {
  const wanted = meant.toLowerCase();
  return [...new Set(names)]
    .map((name) => ({ name, distance: distanceBetween(wanted, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(2, wanted.length / 3))
    .sort((left, right) => left.distance - right.distance)
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

const MOST_NAMES = 5;

/** How many letters are to be added, left out or changed; one where a name only goes on. */
function distanceBetween(one: string, other: string): number {
  if (one === other) return 0;
  if (one.startsWith(other) || other.startsWith(one)) return 1;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [line, letter] of one.split("").entries()) {
    const next = [line + 1];
    for (let at = 1; at <= other.length; at++) {
      const changed = (row[at - 1] ?? 0) + (other[at - 1] === letter ? 0 : 1);
      next.push(Math.min(changed, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
