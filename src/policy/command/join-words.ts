import { HOLE } from "../matching/wildcard.ts";

/** A simple command as one text: words with a space between them, in single quotes where they need some. */
export function joinWords(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/**
 * Texts that cover whatever the holes turn out to be, with quotes and without. What the shell puts in may be no word at
 * all or several, so a hole also covers the spaces around it.
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
