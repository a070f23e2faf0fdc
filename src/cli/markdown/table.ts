import { inlinePieces } from "./inline.ts";
import type { MarkStyle, Piece } from "./marks.ts";
import { addPiece, endRows, rowLayout, type Row } from "./row-layout.ts";
import { textWidth } from "./text-width.ts";

type Side = "left" | "right" | "middle";
type Cell = readonly Piece[];

export function isTable(lines: readonly string[]): boolean {
  return cellsOf(lines[1] ?? "").every((cell) => /^:?-+:?$/.test(cell));
}

/** A table as rows of the terminal. What is too wide for its column goes on below. */
export function tableRows(lines: readonly string[], width: number, style: MarkStyle): string[] {
  const [head = [], limits = [], ...body] = lines.map(cellsOf);
  const count = head.length;
  const sides = limits.map(sideOf);
  const pieces = (cells: readonly string[], marks: Piece["marks"] = []): Cell[] =>
    Array.from({ length: count }, (_, at) => cellPieces(cells[at] ?? "", marks, style));
  const rows = [pieces(head, ["strong"]), ...body.map((cells) => pieces(cells))];
  const widths = fittingWidths(rows, width - GAP * (count - 1));
  if (widths === undefined) return records(head, body, { width, style });
  const line = (cells: readonly Cell[]): string[] => cellLines(cells, { widths, sides, style });
  const [first = [], ...others] = rows;
  const bar = style.paints.dim(widths.map((size) => "─".repeat(size)).join("─".repeat(GAP)));
  return [...line(first), bar, ...others.flatMap(line)];
}

const GAP = 2;
const LEAST = 6;

function cellPieces(text: string, marks: Piece["marks"], { hasColours }: MarkStyle): Cell {
  return hasColours ? inlinePieces(text, marks) : [{ text, marks }];
}

/** Bars in code and behind a backslash are part of a cell. */
function cellsOf(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return [...`${inner}|`.matchAll(/((?:\\.|`[^`]*`|[^|\\`]|[\\`])*?)\|/g)].map(([, cell = ""]) =>
    cell.trim().replaceAll("\\|", "|"),
  );
}

function sideOf(limit: string): Side {
  if (!limit.endsWith(":")) return "left";
  return limit.startsWith(":") ? "middle" : "right";
}

/** The widest columns give way until all fit; undefined where none of it can be read any more. */
function fittingWidths(rows: readonly (readonly Cell[])[], room: number): number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...rows.map((cells) => widthOf(cells[at] ?? []))),
  );
  while (widths.reduce((sum, size) => sum + size, 0) > room) {
    const widest = Math.max(...widths);
    if (widest <= LEAST) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function widthOf(cell: Cell): number {
  return textWidth(cell.map(({ text }) => text).join(""));
}

interface Columns {
  readonly widths: readonly number[];
  readonly sides: readonly Side[];
  readonly style: MarkStyle;
}

function cellLines(cells: readonly Cell[], { widths, sides, style }: Columns): string[] {
  const columns = cells.map((cell, at) => rowsOf(cell, widths[at] ?? 1, style));
  const height = Math.max(1, ...columns.map((rows) => rows.length));
  return Array.from({ length: height }, (_, at) =>
    columns
      .map((rows, column) => padded(rows[at], widths[column] ?? 1, sides[column] ?? "left"))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
}

function rowsOf(cell: Cell, width: number, style: MarkStyle): Row[] {
  const rows: Row[] = [];
  const layout = rowLayout({ first: NOTHING, rest: NOTHING, width, style });
  for (const piece of cell) addPiece(layout, piece, (row) => rows.push(row));
  endRows(layout, (row) => rows.push(row));
  return rows;
}

const NOTHING: Row = { text: "", width: 0 };

function padded({ text, width }: Row = NOTHING, size: number, side: Side): string {
  const room = Math.max(0, size - width);
  const before = side === "left" ? 0 : side === "right" ? room : Math.floor(room / 2);
  return " ".repeat(before) + text + " ".repeat(room - before);
}

/** Too many columns for the terminal: each row as a list of what its cells are called and say. */
function records(
  head: readonly string[],
  body: readonly (readonly string[])[],
  { width, style }: { readonly width: number; readonly style: MarkStyle },
): string[] {
  return body.flatMap((cells, index) => {
    const lines = head.flatMap((name, at) => {
      const place = { first: NOTHING, rest: { text: "  ", width: 2 }, width, style };
      const layout = rowLayout(place);
      const rows: string[] = [];
      const emit = ({ text }: Row): void => void rows.push(text);
      for (const piece of cellPieces(`${name}: `, ["strong"], style)) addPiece(layout, piece, emit);
      for (const piece of cellPieces(cells[at] ?? "", [], style)) addPiece(layout, piece, emit);
      endRows(layout, emit);
      return rows;
    });
    return index === 0 ? lines : ["", ...lines];
  });
}
