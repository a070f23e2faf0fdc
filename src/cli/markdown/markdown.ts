import type { Emit } from "../../domain/codec.ts";
import { printable } from "../../inspect/style.ts";
import { blockStart, type TextStart } from "./block-start.ts";
import { inlinePieces, provisionalPieces, takeInline } from "./inline.ts";
import type { Mark, MarkStyle } from "./marks.ts";
import {
  addPiece,
  endRows,
  rowLayout,
  rowsSoFar,
  type Row,
  type RowLayout,
  type RowPlace,
} from "./row-layout.ts";
import { isTable, tableRows } from "./table.ts";
import { signsOf, signWidth, textWidth } from "./text-width.ts";

export interface MarkdownOptions {
  readonly style: MarkStyle;
  /** Of a row, in columns. Looked at when a block begins. */
  readonly width: () => number;
}

/** One text on its way. */
export interface MarkdownState {
  /** The end of the last piece, where what follows decides what it is. */
  held: string;
  /** What has come of the line and is in no row yet. */
  line: string;
  /** The block that the line belongs to, once that is known. */
  block: { readonly layout: RowLayout; readonly marks: readonly Mark[] } | undefined;
  /** The character before what is left of the line. */
  before: string;
  /** What the code that is being said began with. */
  fence: string | undefined;
  /** Lines of a table that may go on: how wide its columns are is known at its end. */
  table: readonly string[];
  /** A blank line is shown when something follows it. */
  isBlankDue: boolean;
  isBegun: boolean;
}

/**
 * Markdown as rows of a terminal, while it comes. A row that was given out stays as it is; `openRows` is what there is of the
 * line that is being said. Which rows come out does not depend on the pieces in which the text came in.
 */
export interface Markdown {
  initial(): MarkdownState;
  step(state: MarkdownState, text: string, emit: Emit<string>): void;
  finish(state: MarkdownState, emit: Emit<string>): void;
  openRows(state: MarkdownState): readonly string[];
}

export function markdown({ style, width }: MarkdownOptions): Markdown {
  const columns = (): number => Math.max(LEAST_WIDTH, width());

  function say(state: MarkdownState, rows: readonly string[], emit: Emit<string>): void {
    if (state.isBlankDue && state.isBegun) emit("");
    state.isBlankDue = false;
    state.isBegun = true;
    for (const row of rows) emit(row);
  }

  function endTable(state: MarkdownState, emit: Emit<string>): void {
    const lines = state.table;
    if (lines.length === 0) return;
    state.table = [];
    if (isTable(lines)) return say(state, tableRows(lines, columns(), style), emit);
    for (const line of lines) say(state, textRows(line.trim()), emit);
  }

  function textRows(line: string): string[] {
    const layout = rowLayout(placeOf({ first: "", rest: "" }));
    const pieces = style.hasColours ? inlinePieces(line) : [{ text: line, marks: [] }];
    return rowsSoFar(layout, pieces).map(({ text }) => text);
  }

  function placeOf({ first, rest }: Pick<TextStart, "first" | "rest">): RowPlace {
    const before = (text: string): Row => ({
      text: style.paints.dim(text),
      width: textWidth(text),
    });
    const place = { width: columns(), style };
    return { ...place, first: before(first), rest: before(rest) };
  }

  /** A line of which nothing can be shown before its end ends here when it is very long. */
  function feed(state: MarkdownState, text: string, emit: Emit<string>): void {
    state.line += text;
    if (state.line !== "") advance(state, false, emit);
    while (state.block === undefined && state.line.length > MOST_LINE) {
      const rest = state.line.slice(MOST_LINE);
      state.line = state.line.slice(0, MOST_LINE);
      advance(state, true, emit);
      state.line = rest;
    }
  }

  /** The line as far as it has come; `isWhole` when it has ended. */
  function advance(state: MarkdownState, isWhole: boolean, emit: Emit<string>): void {
    if (state.fence !== undefined)
      return isWhole ? endCodeLine(state, state.fence, emit) : undefined;
    if (state.block === undefined && !begin(state, isWhole, emit)) return;
    const { block } = state;
    if (block === undefined) return;
    const { layout, marks } = block;
    const put = ({ text }: Row): void => say(state, [text], emit);
    for (;;) {
      const taken = style.hasColours
        ? takeInline(state.line, state.before, isWhole)
        : { length: state.line.length, pieces: [{ text: state.line, marks: [] }] };
      if (taken === undefined || taken.length === 0) break;
      for (const piece of taken.pieces) {
        addPiece(layout, { ...piece, marks: [...piece.marks, ...marks] }, put);
      }
      state.before = state.line.charAt(taken.length - 1);
      state.line = state.line.slice(taken.length);
    }
    if (!isWhole) return;
    endRows(layout, put);
    state.block = undefined;
  }

  /** Whether the line goes on as a text. */
  function begin(state: MarkdownState, isWhole: boolean, emit: Emit<string>): boolean {
    const start = blockStart(state.line, isWhole);
    if (start === undefined) return false;
    if (start.type === "table" && state.table.length < MOST_TABLE) {
      state.table = [...state.table, state.line];
      state.line = "";
      return false;
    }
    endTable(state, emit);
    switch (start.type) {
      case "blank":
        state.isBlankDue = true;
        break;
      case "rule":
        say(state, [style.paints.dim("─".repeat(Math.min(columns(), RULE_WIDTH)))], emit);
        break;
      case "fence":
        state.fence = start.fence;
        say(state, [style.paints.dim(state.line.trim())], emit);
        break;
      case "table":
        state.table = [state.line];
        break;
      case "text":
        state.block = { layout: rowLayout(placeOf(start)), marks: start.marks };
        state.line = state.line.slice(start.length);
        state.before = "";
        return true;
    }
    state.line = "";
    return false;
  }

  function endCodeLine(state: MarkdownState, fence: string, emit: Emit<string>): void {
    const { line } = state;
    state.line = "";
    const sign = line.trim();
    const isEnd = sign.length >= fence.length && sign === (fence[0] ?? "").repeat(sign.length);
    if (isEnd) state.fence = undefined;
    say(state, isEnd ? [style.paints.dim(sign)] : codeRows(line, columns()), emit);
  }

  return {
    initial: () => ({
      held: "",
      line: "",
      block: undefined,
      before: "",
      fence: undefined,
      table: [],
      isBlankDue: false,
      isBegun: false,
    }),
    step(state, text, emit) {
      const whole = state.held + text;
      // Half a sign, and what may be half a line end.
      const held = /[\r\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      state.held = held;
      const clean = cleaned(whole.slice(0, whole.length - held.length));
      const [first = "", ...others] = clean.split("\n");
      feed(state, first, emit);
      for (const next of others) {
        advance(state, true, emit);
        feed(state, next, emit);
      }
    },
    finish(state, emit) {
      state.line += cleaned(state.held);
      state.held = "";
      if (state.line !== "" || state.block !== undefined) advance(state, true, emit);
      endTable(state, emit);
    },
    openRows(state) {
      const { block, line, table, fence } = state;
      const gap = state.isBlankDue && state.isBegun ? [""] : [];
      if (fence !== undefined)
        return line === "" ? [] : [...gap, ...codeRows(line.slice(-MOST_OPEN), columns())];
      if (block !== undefined) {
        const rest = style.hasColours ? provisionalPieces(line) : [{ text: line, marks: [] }];
        const marked = rest.map(({ text, marks }) => ({ text, marks: [...marks, ...block.marks] }));
        return [...gap, ...rowsSoFar(block.layout, marked).map(({ text }) => text)];
      }
      const shown = line === "" ? (table.at(-1) ?? "") : line;
      return shown === ""
        ? []
        : [...gap, style.paints.dim(codeRows(shown.slice(0, MOST_OPEN), columns())[0] ?? "")];
    },
  };
}

const LEAST_WIDTH = 20;
const RULE_WIDTH = 40;
/** Characters. */
const MOST_LINE = 65_536;
/** Characters of it that are shown before it ends. */
const MOST_OPEN = 4000;
/** Lines. What follows is a table of its own. */
const MOST_TABLE = 500;

/** What is said must not steer the terminal. */
function cleaned(text: string): string {
  return printable(text.replaceAll("\r\n", "\n").replaceAll("\t", "    "));
}

/** Code stays as it is, and goes on below where it is too wide. */
function codeRows(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = "";
  let used = 0;
  for (const sign of signsOf(line)) {
    const wide = signWidth(sign);
    if (used + wide > width) {
      rows.push(row);
      [row, used] = ["", 0];
    }
    row += sign;
    used += wide;
  }
  return [...rows, row];
}
