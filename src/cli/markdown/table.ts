import { parseInline } from "./inline.ts";
import type { MarkStyle, Piece } from "./mark-style.ts";
import { addPiece, endRows, createRowLayout, type Row } from "./row-layout.ts";
import { measureText } from "./text-width.ts";

type Side = "left" | "right" | "middle";
type Cell = readonly Piece[];

export function isTable(lines: readonly string[]): boolean {
  return splitCells(lines[1] ?? "").every((cell) => /^:?-+:?$/.test(cell));
}

/** Formats a table as rows of the terminal. Wide cells are wrapped within their column. */
export function formatTable(lines: readonly string[], width: number, style: MarkStyle): string[] {
  const [head = [], limits = [], ...body] = lines.map(splitCells);
  const count = head.length;
  const sides = limits.map(readSide);
  const pieces = (cells: readonly string[], marks: Piece["marks"] = []): Cell[] =>
    Array.from({ length: count }, (_, at) => parseCell(cells[at] ?? "", marks, style));
  const rows = [pieces(head, ["strong"]), ...body.map((cells) => pieces(cells))];
  const widths = fitWidths(rows, width - GAP * (count - 1));
  if (widths === undefined) return formatRecords(head, body, { width, style });
  const line = (cells: readonly Cell[]): string[] => formatCells(cells, { widths, sides, style });
  const [first = [], ...others] = rows;
  const bar = style.paints.dim(widths.map((size) => "─".repeat(size)).join("─".repeat(GAP)));
  return [...line(first), bar, ...others.flatMap(line)];
}

const GAP = 2;
const MIN_COLUMN_WIDTH = 6;

function parseCell(text: string, marks: Piece["marks"], { hasColours }: MarkStyle): Cell {
  return hasColours ? parseInline(text, marks) : [{ text, marks }];
}

/** Splits a table line. Bars inside code or after a backslash belong to the cell. */
function splitCells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return [...`${inner}|`.matchAll(/((?:\\.|`[^`]*`|[^|\\`]|[\\`])*?)\|/g)].map(([, cell = ""]) =>
    cell.trim().replaceAll("\\|", "|"),
  );
}

function readSide(limit: string): Side {
  if (!limit.endsWith(":")) return "left";
  return limit.startsWith(":") ? "middle" : "right";
}

/** Narrows the widest columns until all fit. Undefined if the columns would become unreadable. */
function fitWidths(rows: readonly (readonly Cell[])[], available: number): number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const widths = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...rows.map((cells) => measureCell(cells[at] ?? []))),
  );
  while (widths.reduce((sum, size) => sum + size, 0) > available) {
    const widest = Math.max(...widths);
    if (widest <= MIN_COLUMN_WIDTH) return undefined;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

function measureCell(cell: Cell): number {
  return measureText(cell.map(({ text }) => text).join(""));
}

interface Columns {
  readonly widths: readonly number[];
  readonly sides: readonly Side[];
  readonly style: MarkStyle;
}

function formatCells(cells: readonly Cell[], { widths, sides, style }: Columns): string[] {
  const columns = cells.map((cell, at) => layoutCell(cell, widths[at] ?? 1, style));
  const height = Math.max(1, ...columns.map((rows) => rows.length));
  return Array.from({ length: height }, (_, at) =>
    columns
      .map((rows, column) => padRow(rows[at], widths[column] ?? 1, sides[column] ?? "left"))
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
}

function layoutCell(cell: Cell, width: number, style: MarkStyle): Row[] {
  const rows: Row[] = [];
  const layout = createRowLayout({ first: EMPTY_ROW, rest: EMPTY_ROW, width, style });
  for (const piece of cell) addPiece(layout, piece, (row) => rows.push(row));
  endRows(layout, (row) => rows.push(row));
  return rows;
}

const EMPTY_ROW: Row = { text: "", width: 0 };

function padRow({ text, width }: Row = EMPTY_ROW, size: number, side: Side): string {
  const padding = Math.max(0, size - width);
  const before = side === "left" ? 0 : side === "right" ? padding : Math.floor(padding / 2);
  return " ".repeat(before) + text + " ".repeat(padding - before);
}

/** Formats each row as a list of column names and cells, for tables too wide for the terminal. */
function formatRecords(
  head: readonly string[],
  body: readonly (readonly string[])[],
  { width, style }: { readonly width: number; readonly style: MarkStyle },
): string[] {
  return body.flatMap((cells, index) => {
    const lines = head.flatMap((name, at) => {
      const margins = { first: EMPTY_ROW, rest: { text: "  ", width: 2 }, width, style };
      const layout = createRowLayout(margins);
      const rows: string[] = [];
      const emit = ({ text }: Row): void => void rows.push(text);
      for (const piece of parseCell(`${name}: `, ["strong"], style)) addPiece(layout, piece, emit);
      for (const piece of parseCell(cells[at] ?? "", [], style)) addPiece(layout, piece, emit);
      endRows(layout, emit);
      return rows;
    });
    return index === 0 ? lines : ["", ...lines];
  });
}
