/** The line that is most like the first line of a text that was not found; undefined when none is like it at all. */
export function nearestLine(
  text: string,
  wanted: string,
): { readonly line: number; readonly text: string } | undefined {
  const first = wanted.split("\n").find((line) => line.trim() !== "");
  if (first === undefined) return undefined;
  const pairs = pairsOf(first);
  let best = { line: 0, text: "", likeness: LEAST_LIKENESS };
  // What is far into a very long file is looked for in vain rather than for seconds.
  for (const [at, line] of text.split("\n", MOST_LINES).entries()) {
    const likeness = likenessOf(pairs, pairsOf(line));
    if (likeness > best.likeness) best = { line: at + 1, text: line, likeness };
  }
  if (best.line === 0) return undefined;
  return { line: best.line, text: JSON.stringify(best.text.slice(0, MOST_CHARACTERS)) };
}

const MOST_LINES = 20_000;
const MOST_CHARACTERS = 200;
const LEAST_LIKENESS = 0.4;

/** Each pair of letters that follow one another, without white space, where lines differ most often. */
function pairsOf(line: string): ReadonlySet<string> {
  const letters = line.slice(0, MOST_CHARACTERS).replaceAll(/\s+/g, "");
  if (letters.length === 1) return new Set([letters]);
  return new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
}

function likenessOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  if (one.size === 0 || other.size === 0) return 0;
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared += 1;
  return (2 * shared) / (one.size + other.size);
}
