import { stripVTControlCharacters } from "node:util";
import { folded } from "./folded.ts";
import { textWidth } from "./markdown/text-width.ts";

/** A row that is too wide, broken between its words, with its indent; our own colours may be in it. */
export function foldedWords(row: string, width: number): string[] {
  if (widthOf(row) <= width) return [row];
  const indent = /^ */.exec(row)?.[0] ?? "";
  const words = row.slice(indent.length).split(" ");
  // A word that fits nowhere is broken where the row ends.
  if (words.some((word) => widthOf(word) > width - indent.length)) {
    return folded(row, width).split("\n");
  }
  const rows: string[] = [];
  for (const word of words) {
    const last = rows.at(-1);
    const longer = `${last ?? indent}${last === undefined ? "" : " "}${word}`;
    if (last !== undefined && widthOf(longer) > width) rows.push(indent + word);
    else rows.splice(Math.max(0, rows.length - 1), 1, longer);
  }
  return rows;
}

function widthOf(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}
