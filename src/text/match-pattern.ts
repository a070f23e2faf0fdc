/** Matches a name against a pattern. `*` matches any number of characters; all other characters match literally. */
export function matchesPattern(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const last = rest.pop() ?? "";
  if (!name.startsWith(first) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of rest) {
    const index = name.indexOf(piece, at);
    if (index < 0) return false;
    at = index + piece.length;
  }
  return at <= name.length - last.length && name.endsWith(last);
}
