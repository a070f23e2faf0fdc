import { HOLE } from "../matching/wildcard.ts";

/** Formats a simple command as one string: words separated by spaces, single-quoted if necessary. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/**
 * Strings which cover every filling of the holes, with and without quotes. A hole may expand to zero or several words,
 * so it also covers the spaces next to it.
 */
export function listCoveringTexts(words: readonly string[]): string[] {
  return [words.map(quoteWord), words].map((list) => {
    let text = "";
    let space = "";
    for (const word of list) {
      text += word === HOLE ? HOLE : `${space}${word}`;
      space = word === HOLE ? "" : " ";
    }
    return text;
  });
}

function quoteWord(word: string): string {
  if (/^[\w@%+=:,./~^\uFFFC-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", "'\\''")}'`;
}
