import { stripVTControlCharacters } from "node:util";
import { brokenAnywhere } from "./folded.ts";
import { textWidth } from "./markdown/text-width.ts";

/** A row that is too wide, broken between its words, with its indent; our own colours may be in it. */
export function foldedWords(row: string, width: number): string[] {
  if (widthOf(row) <= width) return [row];
  const text = row.trimStart();
  const indent = row.slice(0, Math.min(row.length - text.length, DEEPEST));
  const room = Math.max(1, width - indent.length);
  const rows: string[] = [];
  let last = "";
  for (const word of text.split(" ").flatMap((one) => fitting(one, room))) {
    const longer = last === "" ? word : `${last} ${word}`;
    if (widthOf(longer) > room) {
      rows.push(indent + last);
      last = word;
    } else last = longer;
  }
  return [...rows, indent + last];
}

/** More than that is the tool's own. */
const DEEPEST = 8;

/** A word that fits nowhere is broken where the row ends. */
function fitting(word: string, room: number): string[] {
  return widthOf(word) <= room ? [word] : brokenAnywhere(word, room);
}

function widthOf(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}
