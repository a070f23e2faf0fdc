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

export function createMarkdown(options: MarkdownOptions): Markdown {
  return new MarkdownRows(options);
}

class MarkdownRows implements Markdown {
  readonly #style: MarkStyle;
  readonly #width: () => number;

  constructor({ style, width }: MarkdownOptions) {
    this.#style = style;
    this.#width = width;
  }

  get #columns(): number {
    return Math.max(MIN_WIDTH, this.#width());
  }

  initial(): MarkdownState {
    return {
      pending: "",
      line: "",
      block: undefined,
      previousCharacter: "",
      fence: undefined,
      table: [],
      isBlankDue: false,
      hasStarted: false,
    };
  }

  step(state: MarkdownState, text: string, emit: Emit<string>): void {
    const fullText = state.pending + text;
    // Half a surrogate pair, or a carriage return that may be half a line end.
    const pending = /[\r\ud800-\udbff]$/.exec(fullText)?.[0] ?? "";
    state.pending = pending;
    const clean = sanitize(fullText.slice(0, fullText.length - pending.length));
    const [first = "", ...others] = clean.split("\n");
    this.#feed(state, first, emit);
    for (const next of others) {
      this.#advance(state, true, emit);
      this.#feed(state, next, emit);
    }
  }

  finish(state: MarkdownState, emit: Emit<string>): void {
    state.line += sanitize(state.pending);
    state.pending = "";
    if (state.line !== "" || state.block !== undefined) this.#advance(state, true, emit);
    this.#finishTable(state, emit);
  }

  openRows(state: MarkdownState): readonly string[] {
    const { block, line, table, fence } = state;
    const gap = state.isBlankDue && state.hasStarted ? [""] : [];
    if (fence !== undefined)
      return line === "" ? [] : [...gap, ...wrapCode(line.slice(-MAX_OPEN_LENGTH), this.#columns)];
    if (block !== undefined) {
      const rest = this.#style.hasColours ? parseProvisional(line) : [{ text: line, marks: [] }];
      const marked = rest.map(({ text, marks }) => ({ text, marks: [...marks, ...block.marks] }));
      return [...gap, ...previewRows(block.layout, marked).map(({ text }) => text)];
    }
    const visibleLine = line === "" ? (table.at(-1) ?? "") : line;
    if (visibleLine === "") return [];
    const [row = ""] = wrapCode(visibleLine.slice(0, MAX_OPEN_LENGTH), this.#columns);
    return [...gap, this.#style.paints.dim(row)];
  }

  /** Adds text to the current line. A very long line without output so far is ended here, which bounds the memory. */
  #feed(state: MarkdownState, text: string, emit: Emit<string>): void {
    state.line += text;
    if (state.line !== "") this.#advance(state, false, emit);
    while (state.block === undefined && state.line.length > MAX_LINE_LENGTH) {
      const rest = state.line.slice(MAX_LINE_LENGTH);
      state.line = state.line.slice(0, MAX_LINE_LENGTH);
      this.#advance(state, true, emit);
      state.line = rest;
    }
  }

  /** Emits the rows of the line that are certain. `isComplete`: the line has ended. */
  #advance(state: MarkdownState, isComplete: boolean, emit: Emit<string>): void {
    if (state.fence !== undefined)
      return isComplete ? this.#finishCodeLine(state, state.fence, emit) : undefined;
    if (state.block === undefined && !this.#begin(state, isComplete, emit)) return;
    const { block } = state;
    if (block === undefined) return;
    const { layout, marks } = block;
    const emitRow = ({ text }: Row): void => emitRows(state, [text], emit);
    for (;;) {
      const match = this.#style.hasColours
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
  #begin(state: MarkdownState, isComplete: boolean, emit: Emit<string>): boolean {
    const { paints } = this.#style;
    const start = readBlockStart(state.line, isComplete);
    if (start === undefined) return false;
    if (start.type === "table" && state.table.length < MAX_TABLE_LINES) {
      state.table = [...state.table, state.line];
      state.line = "";
      return false;
    }
    this.#finishTable(state, emit);
    switch (start.type) {
      case "blank":
        state.isBlankDue = true;
        break;
      case "rule":
        emitRows(state, [paints.dim("─".repeat(Math.min(this.#columns, RULE_WIDTH)))], emit);
        break;
      case "fence":
        state.fence = start.fence;
        emitRows(state, [paints.dim(state.line.trim())], emit);
        break;
      case "table":
        state.table = [state.line];
        break;
      case "text":
        state.block = { layout: createRowLayout(this.#createPlace(start)), marks: start.marks };
        state.line = state.line.slice(start.length);
        state.previousCharacter = "";
        return true;
    }
    state.line = "";
    return false;
  }

  #finishCodeLine(state: MarkdownState, fence: string, emit: Emit<string>): void {
    const { line } = state;
    state.line = "";
    const sign = line.trim();
    const isFenceEnd = sign.length >= fence.length && sign === (fence[0] ?? "").repeat(sign.length);
    if (isFenceEnd) state.fence = undefined;
    const rows = isFenceEnd ? [this.#style.paints.dim(sign)] : wrapCode(line, this.#columns);
    emitRows(state, rows, emit);
  }

  #finishTable(state: MarkdownState, emit: Emit<string>): void {
    const lines = state.table;
    if (lines.length === 0) return;
    state.table = [];
    if (isTable(lines))
      return emitRows(state, formatTable(lines, this.#columns, this.#style), emit);
    for (const line of lines) emitRows(state, this.#textRows(line.trim()), emit);
  }

  #textRows(line: string): string[] {
    const layout = createRowLayout(this.#createPlace({ first: "", rest: "" }));
    const pieces = this.#style.hasColours ? parseInline(line) : [{ text: line, marks: [] }];
    return previewRows(layout, pieces).map(({ text }) => text);
  }

  #createPlace({ first, rest }: Pick<TextStart, "first" | "rest">): RowMargins {
    const style = this.#style;
    const before = (text: string): Row => ({
      text: style.paints.dim(text),
      width: measureText(text),
    });
    return { width: this.#columns, style, first: before(first), rest: before(rest) };
  }
}

function emitRows(state: MarkdownState, rows: readonly string[], emit: Emit<string>): void {
  if (state.isBlankDue && state.hasStarted) emit("");
  state.isBlankDue = false;
  state.hasStarted = true;
  for (const row of rows) emit(row);
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
