/** Finds the line most similar to the first non-empty line of `needle`. Undefined if no line is similar enough. */
export function findNearestLine(
  text: string,
  needle: string,
): { readonly line: number; readonly text: string } | undefined {
  const first = needle.split("\n").find((line) => line.trim() !== "");
  if (first === undefined) return undefined;
  const pairs = listPairs(first);
  let best = { line: 0, text: "", likeness: MIN_SIMILARITY };
  // Only the first 20,000 lines are compared, to bound the time.
  for (const [at, line] of text.split("\n", MAX_LINES).entries()) {
    const likeness = computeSimilarity(pairs, listPairs(line));
    if (likeness > best.likeness) best = { line: at + 1, text: line, likeness };
  }
  if (best.line === 0) return undefined;
  return { line: best.line, text: JSON.stringify(best.text.slice(0, MAX_LINE_LENGTH)) };
}

const MAX_LINES = 20_000;
const MAX_LINE_LENGTH = 200;
const MIN_SIMILARITY = 0.4;

/** Pairs of adjacent characters. White space is ignored, since it differs most often. */
function listPairs(line: string): ReadonlySet<string> {
  const letters = line.slice(0, MAX_LINE_LENGTH).replaceAll(/\s+/g, "");
  if (letters.length === 1) return new Set([letters]);
  return new Set(Array.from({ length: letters.length - 1 }, (_, at) => letters.slice(at, at + 2)));
}

function computeSimilarity(first: ReadonlySet<string>, second: ReadonlySet<string>): number {
  if (first.size === 0 || second.size === 0) return 0;
  let shared = 0;
  for (const pair of first) if (second.has(pair)) shared += 1;
  return (2 * shared) / (first.size + second.size);
}
