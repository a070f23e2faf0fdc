/**
 * Cleans foreign text for display to people or for a model: removes invisible characters with an effect (controls,
 * bidirectional marks, tags) and cuts the text at the limit.
 */
export function cleanText(text: string, limit: number): string {
  // Bounds the work: text far beyond the limit is not examined.
  const visible = text
    .slice(0, 4 * limit)
    .replaceAll(HIDDEN, "")
    .trim();
  return visible.length <= limit ? visible : `${visible.slice(0, limit - 1).toWellFormed()}…`;
}

/** Cleans text and joins it to one line. */
export function cleanLine(text: string, limit: number): string {
  return cleanText(text.slice(0, 4 * limit).replaceAll(/\s+/g, " "), limit);
}

/**
 * All control, format, surrogate and private-use characters, except line feed, tab and the two joiners needed by some
 * scripts; and the variation selectors, which can encode hidden text.
 */
const HIDDEN = /(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u{E0100}-\u{E01EF}]/gu;
