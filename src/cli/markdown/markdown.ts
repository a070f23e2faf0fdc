import type { Emit } from "../../domain/codec.ts";
import { escapeControls } from "../../inspect/trace-style.ts";
import { readBlockStart, type TextStart } from "./block-start.ts";
import { parseInline, parseProvisional, readInline } from "./inline.ts";
import type { Mark, MarkStyle } from "./mark-style.ts";
import {
  addPiece,
  endRows,
  createRowLayout,
  previewRows,
  type Row,
  type RowLayout,
  type RowMargins,
} from "./row-layout.ts";
import { isTable, formatTable } from "./table.ts";
import { splitCharacters, measureCharacter, measureText } from "./text-width.ts";

export interface MarkdownOptions {
  readonly style: MarkStyle;
  /** Columns of a row. Read when a block begins, so a resized terminal takes effect there. */
  readonly width: () => number;
}

/** The state of a text while it arrives. */
export interface MarkdownState {
  /** The end of the last chunk if the next chunk decides about it: half a surrogate pair, or a carriage return. */
  pending: string;
  /** The part of the current line that is not in a row yet. */
  line: string;
  /** The block of the current line. Undefined until the block is recognized. */
  block: { readonly layout: RowLayout; readonly marks: readonly Mark[] } | undefined;
  /** The character before `line`. */
  previousCharacter: string;
  /** The opening fence of the current code block. Undefined outside code. */
  fence: string | undefined;
  /** Lines of a table that may continue. The column widths are known only at its end. */
  table: readonly string[];
  /** A blank line is emitted only if more output follows. */
  isBlankDue: boolean;
  hasStarted: boolean;
}

/**
 * Encodes Markdown as rows of a terminal while the text arrives. An emitted row never changes; `openRows` returns the
 * rows of the unfinished line. The emitted rows do not depend on the chunks of the input.
 */
export interface Markdown {
  initial(): MarkdownState;
  step(state: MarkdownState, text: string, emit: Emit<string>): void;
  finish(state: MarkdownState, emit: Emit<string>): void;
  openRows(state: MarkdownState): readonly string[];
}

export function createMarkdown({ style, width }: MarkdownOptions): Markdown {
  const columns = (): number => Math.max(MIN_WIDTH, width());

  function emitRows(state: MarkdownState, rows: readonly string[], emit: Emit<string>): void {
    if (state.isBlankDue && state.hasStarted) emit("");
    state.isBlankDue = false;
    state.hasStarted = true;
    for (const row of rows) emit(row);
  }

  function finishTable(state: MarkdownState, emit: Emit<string>): void {
    const lines = state.table;
    if (lines.length === 0) return;
    state.table = [];
    if (isTable(lines)) return emitRows(state, formatTable(lines, columns(), style), emit);
    for (const line of lines) emitRows(state, textRows(line.trim()), emit);
  }

  function textRows(line: string): string[] {
    const layout = createRowLayout(createPlace({ first: "", rest: "" }));
    const pieces = style.hasColours ? parseInline(line) : [{ text: line, marks: [] }];
    return previewRows(layout, pieces).map(({ text }) => text);
  }

  function createPlace({ first, rest }: Pick<TextStart, "first" | "rest">): RowMargins {
    const before = (text: string): Row => ({
      text: style.paints.dim(text),
      width: measureText(text),
    });
    const place = { width: columns(), style };
    return { ...place, first: before(first), rest: before(rest) };
  }

  /** Adds text to the current line. A very long line without output so far is ended here, which bounds the memory. */
  function feed(state: MarkdownState, text: string, emit: Emit<string>): void {
    state.line += text;
    if (state.line !== "") advance(state, false, emit);
    while (state.block === undefined && state.line.length > MAX_LINE_LENGTH) {
      const rest = state.line.slice(MAX_LINE_LENGTH);
      state.line = state.line.slice(0, MAX_LINE_LENGTH);
      advance(state, true, emit);
      state.line = rest;
    }
  }

  /** Emits the rows of the line that are certain. `isComplete`: the line has ended. */
  function advance(state: MarkdownState, isComplete: boolean, emit: Emit<string>): void {
    if (state.fence !== undefined)
      return isComplete ? finishCodeLine(state, state.fence, emit) : undefined;
    if (state.block === undefined && !begin(state, isComplete, emit)) return;
    const { block } = state;
    if (block === undefined) return;
    const { layout, marks } = block;
    const emitRow = ({ text }: Row): void => emitRows(state, [text], emit);
    for (;;) {
      const match = style.hasColours
        ? readInline(state.line, state.previousCharacter, isComplete)
        : { length: state.line.length, pieces: [{ text: state.line, marks: [] }] };
      if (match === undefined || match.length === 0) break;
      for (const piece of match.pieces) {
        addPiece(layout, { ...piece, marks: [...piece.marks, ...marks] }, emitRow);
      }
      state.previousCharacter = state.line.charAt(match.length - 1);
      state.line = state.line.slice(match.length);
    }
    if (!isComplete) return;
    endRows(layout, emitRow);
    state.block = undefined;
  }

  /** Recognizes the block of the line. Returns true if the line continues as text. */
  function begin(state: MarkdownState, isComplete: boolean, emit: Emit<string>): boolean {
    const start = readBlockStart(state.line, isComplete);
    if (start === undefined) return false;
    if (start.type === "table" && state.table.length < MAX_TABLE_LINES) {
      state.table = [...state.table, state.line];
      state.line = "";
      return false;
    }
    finishTable(state, emit);
    switch (start.type) {
      case "blank":
        state.isBlankDue = true;
        break;
      case "rule":
        emitRows(state, [style.paints.dim("─".repeat(Math.min(columns(), RULE_WIDTH)))], emit);
        break;
      case "fence":
        state.fence = start.fence;
        emitRows(state, [style.paints.dim(state.line.trim())], emit);
        break;
      case "table":
        state.table = [state.line];
        break;
      case "text":
        state.block = { layout: createRowLayout(createPlace(start)), marks: start.marks };
        state.line = state.line.slice(start.length);
        state.previousCharacter = "";
        return true;
    }
    state.line = "";
    return false;
  }

  function finishCodeLine(state: MarkdownState, fence: string, emit: Emit<string>): void {
    const { line } = state;
    state.line = "";
    const sign = line.trim();
    const isFenceEnd = sign.length >= fence.length && sign === (fence[0] ?? "").repeat(sign.length);
    if (isFenceEnd) state.fence = undefined;
    emitRows(state, isFenceEnd ? [style.paints.dim(sign)] : wrapCode(line, columns()), emit);
  }

  return {
    initial: () => ({
      pending: "",
      line: "",
      block: undefined,
      previousCharacter: "",
      fence: undefined,
      table: [],
      isBlankDue: false,
      hasStarted: false,
    }),
    step(state, text, emit) {
      const fullText = state.pending + text;
      // Half a surrogate pair, or a carriage return that may be half a line end.
      const pending = /[\r\ud800-\udbff]$/.exec(fullText)?.[0] ?? "";
      state.pending = pending;
      const clean = sanitize(fullText.slice(0, fullText.length - pending.length));
      const [first = "", ...others] = clean.split("\n");
      feed(state, first, emit);
      for (const next of others) {
        advance(state, true, emit);
        feed(state, next, emit);
      }
    },
    finish(state, emit) {
      state.line += sanitize(state.pending);
      state.pending = "";
      if (state.line !== "" || state.block !== undefined) advance(state, true, emit);
      finishTable(state, emit);
    },
    openRows(state) {
      const { block, line, table, fence } = state;
      const gap = state.isBlankDue && state.hasStarted ? [""] : [];
      if (fence !== undefined)
        return line === "" ? [] : [...gap, ...wrapCode(line.slice(-MAX_OPEN_LENGTH), columns())];
      if (block !== undefined) {
        const rest = style.hasColours ? parseProvisional(line) : [{ text: line, marks: [] }];
        const marked = rest.map(({ text, marks }) => ({ text, marks: [...marks, ...block.marks] }));
        return [...gap, ...previewRows(block.layout, marked).map(({ text }) => text)];
      }
      const visibleLine = line === "" ? (table.at(-1) ?? "") : line;
      return visibleLine === ""
        ? []
        : [
            ...gap,
            style.paints.dim(wrapCode(visibleLine.slice(0, MAX_OPEN_LENGTH), columns())[0] ?? ""),
          ];
    },
  };
}

const MIN_WIDTH = 20;
const RULE_WIDTH = 40;
/** Characters. */
const MAX_LINE_LENGTH = 65_536;
/** Characters of an unfinished line that are displayed. */
const MAX_OPEN_LENGTH = 4000;
/** Lines. Further lines form a separate table. */
const MAX_TABLE_LINES = 500;

/** Escapes control characters: a text must not control the terminal. */
function sanitize(text: string): string {
  return escapeControls(text.replaceAll("\r\n", "\n").replaceAll("\t", "    "));
}

/** Wraps code at the width and otherwise leaves it unchanged. */
function wrapCode(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  let usedWidth = 0;
  for (const sign of splitCharacters(line)) {
    const wide = measureCharacter(sign);
    if (usedWidth + wide > width) {
      rows.push(row);
      [row, usedWidth] = ["", 0];
    }
    row += sign;
    usedWidth += wide;
  }
  return [...rows, row];
}
