import { counted } from "../domain/counted.ts";
import type { FileDiff } from "../domain/tool-output.ts";
import { oneLine, type Style } from "../inspect/style.ts";

/** What a call would change in a file, short: what lies before and after the change is left out. */
export function diffLines({ path, oldText, newText }: FileDiff, style: Style): string[] {
  const [before, after] = [linesOf(oldText ?? ""), linesOf(newText)];
  const same = sharedStart(before, after);
  const end = sharedStart(before.slice(same).toReversed(), after.slice(same).toReversed());
  const first = Math.max(0, same - CONTEXT);
  const removed = before.slice(same, before.length - end);
  const added = after.slice(same, after.length - end);
  const rest = after.slice(after.length - end, after.length - end + CONTEXT);
  const place = oldText === null ? "new" : `from line ${first + 1}`;
  return [
    style.strong(`${oneLine(path)} (${place})`),
    ...after.slice(first, same).map((line) => style.dim(shownLine(" ", line))),
    ...cut(removed.map((line) => style.bad(shownLine("-", line)))),
    ...cut(added.map((line) => style.good(shownLine("+", line)))),
    ...rest.map((line) => style.dim(shownLine(" ", line))),
  ];
}

const CONTEXT = 2;
const MOST_LINES = 20;
const MOST_CHARACTERS = 200;

/** A line end at the end of a text begins no other line. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

function sharedStart(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((line, index) => line !== other[index]);
  return at === -1 ? Math.min(one.length, other.length) : at;
}

/** What a file says must neither steer the terminal nor fill it. */
function shownLine(sign: string, line: string): string {
  const short = line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
  return `${sign} ${oneLine(short.replaceAll("\t", "  "))}`;
}

function cut(lines: readonly string[]): string[] {
  const more = lines.length - MOST_LINES;
  if (more <= 1) return [...lines];
  return [...lines.slice(0, MOST_LINES), `  … ${counted(more, "more line")}`];
}
