/** Known names similar to a misspelt name, the most similar first. At most five. */
export function suggestNames(input: string, names: readonly string[]): string[] {
  const normalizedInput = input.toLowerCase();
  // At least one letter must match. Otherwise a short input would resemble every short name.
  const maxDistance = Math.min(Math.max(2, input.length / 3), input.length - 1);
  return [...new Set(names)]
    .map((name) => ({ name, distance: measureDistance(normalizedInput, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name }) => name);
}

const MAX_SUGGESTIONS = 5;

/** The number of letters to add, remove or change. 1 if either name starts or ends with the other. */
function measureDistance(first: string, second: string): number {
  if (first === second) return 0;
  if (first.startsWith(second) || second.startsWith(first)) return 1;
  if (endsWithWord(first, second) || endsWithWord(second, first)) return 1;
  let row = Array.from({ length: second.length + 1 }, (_, at) => at);
  for (const [line, letter] of first.split("").entries()) {
    const next = [line + 1];
    for (let at = 1; at <= second.length; at++) {
      const changed = (row[at - 1] ?? 0) + (second[at - 1] === letter ? 0 : 1);
      next.push(Math.min(changed, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** For a forgotten first word, such as `depth` for `maxDepth`. Short endings are common to many names. */
function endsWithWord(name: string, ending: string): boolean {
  return ending.length >= MIN_ENDING && name.endsWith(ending);
}

const MIN_ENDING = 4;
