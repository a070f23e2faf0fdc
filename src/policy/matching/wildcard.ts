import { foldSpelling } from "./spelling.ts";

/** Stands in a text for what nobody knows yet: any text, even none. No pattern may hold it. */
export const HOLE = "\uFFFC";

/** A text, or a pattern with `*` for any text and `?` for one character, in the forms that are compared. */
export interface SpelledText {
  /** Its own bytes: to most file systems another Unicode normalisation of a name is another file. */
  readonly exact: string;
  /** In NFC, so that `?` covers a letter with its accent. */
  readonly composed: string;
  readonly folded: string;
}

export function createSpelledText(text: string): SpelledText {
  return { exact: text, composed: text.normalize("NFC"), folded: foldSpelling(text) };
}

/** For rules that allow: compares the bytes. */
export function matchesExactly(pattern: SpelledText, name: SpelledText): boolean {
  return matchesWildcard(pattern.exact, name.exact);
}

/** For rules that deny or ask: the name in any spelling, whatever its holes turn out to be. */
export function mayMatchInAnySpelling(pattern: SpelledText, name: SpelledText): boolean {
  return (
    matchesWildcard(pattern.exact, name.exact) ||
    mayMatchWildcard(pattern.folded, name.folded) ||
    matchesWildcard(pattern.composed, name.composed)
  );
}

/**
 * Whether a pattern fits a whole text. It takes time in proportion to both lengths, whatever they hold, since the text
 * may be an attacker's. A hole is only covered by `*`.
 */
export function matchesWildcard(pattern: string, text: string): boolean {
  let at = 0;
  let next = 0;
  // Where to go on when the text after the last star does not fit.
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

/** Whether a pattern may fit a text, whatever its holes turn out to be. */
export function mayMatchWildcard(pattern: string, text: string): boolean {
  if (!text.includes(HOLE)) return matchesWildcard(pattern, text);
  const signs = Array.from(pattern);
  // `after[at]`: whether the pattern from `at` on may fit what comes after the current character.
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
