import { toSingleLine } from "../../../inspect/trace-style.ts";

/**
 * Quotes a string as a single word of a shell command for copying. Agents choose session ids, which may contain any
 * character.
 */
export function quoteShellWord(text: string): string {
  const line = toSingleLine(text);
  return /^[\w./:@%+=,-]+$/.test(line) ? line : `'${line.replaceAll("'", String.raw`'\''`)}'`;
}
