import { stripVTControlCharacters } from "node:util";
import { breakLine } from "./wrap-lines.ts";
import { measureText } from "../../markdown/text-width.ts";

/** Breaks a row between words and keeps its indent. Spanline's own colors do not count as width. */
export function wrapWords(row: string, width: number): string[] {
  if (measureWidth(row) <= width) return [row];
  const text = row.trimStart();
  const indent = row.slice(0, Math.min(row.length - text.length, MAX_INDENT));
  const available = Math.max(1, width - indent.length);
  const rows: string[] = [];
  let last = "";
  for (const word of text.split(" ").flatMap((part) => splitLongWord(part, available))) {
    const longer = last === "" ? word : `${last} ${word}`;
    if (measureWidth(longer) > available) {
      rows.push(indent + last);
      last = word;
    } else last = longer;
  }
  return [...rows, indent + last];
}

/** A larger indent belongs to the tool output. */
const MAX_INDENT = 8;

/** Breaks a word wider than a row at the row's end. */
function splitLongWord(word: string, available: number): string[] {
  return measureWidth(word) <= available ? [word] : breakLine(word, available);
}

function measureWidth(text: string): number {
  return measureText(stripVTControlCharacters(text));
}
