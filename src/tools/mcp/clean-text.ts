/**
 * A text of somebody else's, to be shown to people or told to a model: without the characters that are not seen but do
 * something (controls, marks of direction, tags), and not longer than the limit.
 */
export function cleanText(text: string, limit: number): string {
  // What a very long text says at its end is not looked at.
  const visible = text
    .slice(0, 4 * limit)
    .replaceAll(HIDDEN, "")
    .trim();
  return visible.length <= limit ? visible : `${visible.slice(0, limit - 1).toWellFormed()}…`;
}

/** The same on one line. */
export function cleanLine(text: string, limit: number): string {
  return cleanText(text.slice(0, 4 * limit).replaceAll(/\s+/g, " "), limit);
}

/**
 * All controls, formats, halves of pairs and private characters but for the new line, the tab and the two joiners that
 * scripts need; and the selectors in which whole texts can be hidden.
 */
const HIDDEN = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{E0100}-\u{E01EF}]/gu;
