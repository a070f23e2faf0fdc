import { counted } from "../domain/counted.ts";
import type { FileDiff } from "../domain/tool-output.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { changedLines, type LineChange } from "./changed-lines.ts";

export interface DiffLimits {
  /** Places where the file changes. */
  readonly pieces: number;
  /** Of what is taken away in one place, and of what is added. */
  readonly lines: number;
  /** Of each line. */
  readonly characters: number;
}

/** What a call would change in a file, short: what lies around the changes is left out. */
export function diffLines(
  { path, oldText, newText }: FileDiff,
  style: Style,
  most: DiffLimits = SHORT,
): string[] {
  const [before, after] = linesOfBoth(oldText ?? "", newText);
  const pieces = piecesOf(changedLines(before, after));
  const [first] = pieces;
  const name = oneLine(path);
  if (oldText !== null && first === undefined) return [style.strong(`${name} (nothing changes)`)];
  const place = oldText === null ? "new" : fromLine(first);
  const more = pieces.length - most.pieces;
  return [
    style.strong(`${name} (${place})`),
    ...pieces
      .slice(0, most.pieces)
      .flatMap((piece, at) => [
        ...(at === 0 ? [] : [style.strong(`… ${fromLine(piece)}`)]),
        ...pieceLines(piece, after, { style, most }),
      ]),
    ...(more > 0 ? [style.strong(`… ${counted(more, "more place")} where it changes`)] : []),
  ];
}

const CONTEXT = 2;
const SHORT: DiffLimits = { pieces: 10, lines: 20, characters: 200 };

/** Changes with so little between them that it is shown. */
type Piece = readonly LineChange[];

function piecesOf(changes: readonly LineChange[]): Piece[] {
  const pieces: LineChange[][] = [];
  for (const change of changes) {
    const last = pieces.at(-1)?.at(-1);
    const isNear = last !== undefined && change.after - endOf(last) <= 2 * CONTEXT;
    if (isNear) pieces.at(-1)?.push(change);
    else pieces.push([change]);
  }
  return pieces;
}

function endOf({ after, added }: LineChange): number {
  return after + added.length;
}

/** As the file is now. */
function fromLine(piece: Piece | undefined): string {
  return `from line ${Math.max(0, (piece?.[0]?.before ?? 0) - CONTEXT) + 1}`;
}

function pieceLines(
  piece: Piece,
  after: readonly string[],
  { style, most }: { readonly style: Style; readonly most: DiffLimits },
): string[] {
  const context = (from: number, to: number): string[] =>
    after.slice(Math.max(0, from), to).map((line) => style.dim(shownLine(" ", line, most)));
  return piece.flatMap((change, at) => {
    const next = piece[at + 1];
    const end = endOf(change);
    return [
      ...(at === 0 ? context(change.after - CONTEXT, change.after) : []),
      ...cut(
        change.removed.map((line) => style.bad(shownLine("-", line, most))),
        most,
      ),
      ...cut(
        change.added.map((line) => style.good(shownLine("+", line, most))),
        most,
      ),
      ...context(end, next?.after ?? end + CONTEXT),
    ];
  });
}

/** Where one text ends with a line end and the other does not, that is a line of its own. */
function linesOfBoth(before: string, after: string): [string[], string[]] {
  const isOther = before !== "" && after !== "" && before.endsWith("\n") !== after.endsWith("\n");
  const lines = (text: string): string[] => {
    if (text === "") return [];
    const all = text.replace(/\n$/, "").split("\n");
    return isOther && text.endsWith("\n") ? [...all, LINE_END] : all;
  };
  return [lines(before), lines(after)];
}

/** No line has it in itself. */
const LINE_END = "\n";

/** What a file says must neither steer the terminal nor fill it. */
function shownLine(sign: string, line: string, { characters }: DiffLimits): string {
  if (line === LINE_END) return `${sign} [the line end of the last line]`;
  const short = line.length > characters ? `${line.slice(0, characters)}…` : line;
  return `${sign} ${oneLine(short.replaceAll("\t", "  "))}`;
}

function cut(lines: readonly string[], most: DiffLimits): string[] {
  const more = lines.length - most.lines;
  if (more <= 1) return [...lines];
  return [...lines.slice(0, most.lines), `  … ${counted(more, "more line")}`];
}
