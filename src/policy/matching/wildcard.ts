import { foldSpelling } from "./spelling.ts";

/** Placeholder for unknown text of any length, including none. Patterns must not contain it. */
export const HOLE = "\uFFFC";

/** A string, or a pattern with `*` (any text) and `?` (one character), in the forms used for comparison. */
export interface SpelledText {
  /** The original string: on most file systems, another Unicode normalization of a name is another file. */
  readonly exact: string;
  /** In NFC, so that `?` matches a letter with its accent. */
  readonly composed: string;
  readonly folded: string;
}

export function createSpelledText(text: string): SpelledText {
  return { exact: text, composed: text.normalize("NFC"), folded: foldSpelling(text) };
}

/** Exact matching (`allow` rules): compares the original strings. */
export function matchesExactly(pattern: SpelledText, name: SpelledText): boolean {
  return matchesWildcard(pattern.exact, name.exact);
}

/** Conservative matching (`deny` and `ask` rules): any spelling of the name, with any filling of its holes. */
export function mayMatchInAnySpelling(pattern: SpelledText, name: SpelledText): boolean {
  return (
    matchesWildcard(pattern.exact, name.exact) ||
    mayMatchWildcard(pattern.folded, name.folded) ||
    matchesWildcard(pattern.composed, name.composed)
  );
}

/**
 * Whether a pattern matches a whole string. The time is proportional to the product of both lengths for any input,
 * since an attacker may choose the string. A hole is matched only by `*`.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let next = 0;
  // Position to resume from if the text after the last star does not match.
  let star = -1;
  let retry = 0;
  while (next < text.length) {
    const sign = pattern.charAt(at);
    if (sign === "*") {
      star = at++;
      retry = next;
    } else if (sign === "?" && text.charAt(next) !== HOLE) {
      at++;
      next += (text.codePointAt(next) ?? 0) > 0xffff ? 2 : 1;
    } else if (sign === text.charAt(next)) {
      at++;
      next++;
    } else if (star >= 0) {
      at = star + 1;
      next = ++retry;
    } else return false;
  }
  while (pattern.charAt(at) === "*") at++;
  return at === pattern.length;
}

/** Whether a pattern may match a string for some filling of its holes. */
export function mayMatchWildcard(pattern: string, text: string): boolean {
  if (!text.includes(HOLE)) return matchesWildcard(pattern, text);
  const signs = Array.from(pattern);
  // `after[at]`: whether the pattern from index `at` may match the text after the current character.
  const stars = signs.length - signs.findLastIndex((sign) => sign !== "*") - 1;
  let after = Array.from({ length: signs.length + 1 }, (_, at) => at >= signs.length - stars);
  for (const character of Array.from(text).toReversed()) {
    const now: boolean[] = [];
    for (let at = signs.length; at >= 0; at--) {
      const sign = signs[at];
      const skipsPattern = sign === "*" || (character === HOLE && sign !== undefined);
      const skipsText = sign === "*" || character === HOLE;
      const steps = sign === "?" || sign === character;
      now[at] =
        (skipsPattern && now[at + 1] === true) ||
        (skipsText && after[at] === true) ||
        (steps && after[at + 1] === true);
    }
    after = now;
  }
  return after[0] === true;
}
