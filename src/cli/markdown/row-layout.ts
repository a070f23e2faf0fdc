import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createMarkStyle, paint, hasSameMarks, type MarkStyle, type Piece } from "./mark-style.ts";
import { splitCharacters, measureCharacter, measureText } from "./text-width.ts";

/** A finished row of the terminal, with its width without colors. */
export interface Row {
  readonly text: string;
  readonly width: number;
}

/** The prefixes of a block's first row and of its following rows. */
export interface RowMargins {
  readonly first: Row;
  readonly rest: Row;
  /** Columns of a whole row, prefix included. */
  readonly width: number;
  readonly style: MarkStyle;
}

/** A block that is being laid out. The rows depend only on the text, not on its chunks. */
export interface RowLayout {
  readonly margins: RowMargins;
  row: Row;
  /** True if the row contains more than its prefix. */
  isFilled: boolean;
  gap: number;
  word: readonly Piece[];
}

type EmitRow = (row: Row) => void;

export function createRowLayout(margins: RowMargins): RowLayout {
  return { margins, row: margins.first, isFilled: false, gap: 0, word: [] };
}

export function addPiece(layout: RowLayout, { text, marks }: Piece, emit: EmitRow): void {
  for (const [part] of text.matchAll(/ +|[^ ]+/g)) {
    if (part.startsWith(" ")) {
      placeWord(layout, true, emit);
      layout.gap += part.length;
    } else {
      layout.word = mergePieces([...layout.word, { text: part, marks }]);
      placeWord(layout, false, emit);
    }
  }
}

/** Ends the block and emits its last row. */
export function endRows(layout: RowLayout, emit: EmitRow): void {
  placeWord(layout, true, emit);
  if (layout.isFilled || layout.row === layout.margins.first) emit(layout.row);
}

/** Returns the rows as if the block ended here. The layout does not change. */
export function previewRows(layout: RowLayout, extraPieces: readonly Piece[]): Row[] {
  const rows: Row[] = [];
  const copy = { ...layout };
  for (const piece of extraPieces) addPiece(copy, piece, (row) => rows.push(row));
  endRows(copy, (row) => rows.push(row));
  return rows;
}

/** Wraps a text without marks to rows of a width. */
export function wrapText(text: string, width: number): string[] {
  const nothing = { text: "", width: 0 };
  const style = createMarkStyle(PLAIN_STYLE, null);
  const layout = createRowLayout({ first: nothing, rest: nothing, width, style });
  return previewRows(layout, [{ text, marks: [] }]).map((row) => row.text);
}

/** Moves the certain part of the word into rows. Wide characters may break anywhere, other words stay whole. */
function placeWord(layout: RowLayout, isComplete: boolean, emit: EmitRow): void {
  const { word } = layout;
  const text = word.map((piece) => piece.text).join("");
  if (text === "" || (!isComplete && NARROW.test(text))) return;
  let at = 0;
  for (const end of findUnitEnds(text, isComplete)) {
    placeUnit(layout, slicePieces(word, at, end), emit);
    at = end;
  }
  layout.word = slicePieces(word, at, text.length);
}

const NARROW = /^[\u0020-\u02ff]*$/;

/** Finds the positions where a word may break. Later input can still change the last character and its width. */
function findUnitEnds(text: string, isComplete: boolean): number[] {
  const signs = splitCharacters(text);
  const ends: number[] = [];
  let at = 0;
  for (const [index, sign] of signs.entries()) {
    at += sign.length;
    const next = signs[index + 1];
    if (next === undefined) {
      if (isComplete) ends.push(at);
    } else if (isComplete || index + 2 < signs.length) {
      const isWide = measureCharacter(sign) === 2 || measureCharacter(next) === 2;
      if (isWide && !CLOSING.test(next) && !OPENING.test(sign)) ends.push(at);
    }
  }
  return ends;
}

/** Characters not allowed at the start of a row, and characters not allowed at its end. */
const CLOSING = /^[)\]}>,.;:!?%、。，．：；！？）］｝」』】》〉”’…]/u;
const OPENING = /[([{<（［｛「『【《〈“‘]$/u;

function placeUnit(layout: RowLayout, unit: readonly Piece[], emit: EmitRow): void {
  const { width } = layout.margins;
  const unitWidth = measureText(unit.map(({ text }) => text).join(""));
  if (layout.isFilled && layout.row.width + layout.gap + unitWidth > width) breakRow(layout, emit);
  const gap = layout.isFilled ? layout.gap : 0;
  layout.gap = 0;
  append(layout, { text: " ".repeat(gap), width: gap });
  if (layout.row.width + unitWidth <= width) {
    for (const piece of unit) append(layout, paintPiece(layout, piece));
    layout.isFilled = true;
    return;
  }
  for (const piece of unit) placeCharacters(layout, piece, emit);
}

/** Places a unit longer than a row, character by character. */
function placeCharacters(layout: RowLayout, { text, marks }: Piece, emit: EmitRow): void {
  const { width } = layout.margins;
  let part = "";
  let usedWidth = 0;
  const flush = (): void => {
    if (part !== "") append(layout, paintPiece(layout, { text: part, marks }));
    layout.isFilled = true;
    [part, usedWidth] = ["", 0];
  };
  for (const sign of splitCharacters(text)) {
    const wide = measureCharacter(sign);
    if (layout.row.width + usedWidth + wide > width && (layout.isFilled || part !== "")) {
      flush();
      breakRow(layout, emit);
    }
    part += sign;
    usedWidth += wide;
  }
  flush();
}

function paintPiece({ margins }: RowLayout, piece: Piece): Row {
  return { text: paint(piece, margins.style), width: measureText(piece.text) };
}

function append(layout: RowLayout, { text, width }: Row): void {
  layout.row = { text: layout.row.text + text, width: layout.row.width + width };
}

function breakRow(layout: RowLayout, emit: EmitRow): void {
  emit(layout.row);
  layout.row = layout.margins.rest;
  layout.isFilled = false;
  layout.gap = 0;
}

function mergePieces(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last !== undefined && hasSameMarks(last, piece)) {
      all[all.length - 1] = { text: last.text + piece.text, marks: last.marks };
    } else all.push(piece);
  }
  return all;
}

function slicePieces(pieces: readonly Piece[], from: number, to: number): Piece[] {
  let at = 0;
  return pieces.flatMap(({ text, marks }) => {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += text.length;
    return part === "" ? [] : [{ text: part, marks }];
  });
}
