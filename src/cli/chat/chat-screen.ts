import { createInterface, type Interface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { createTerminalInput, LINE_END_SIGN, type TerminalInput } from "./terminal-input.ts";
import { measureText } from "../markdown/text-width.ts";

/**
 * A terminal that prints output while the user types. Printed rows never change; only the rows directly above the input
 * are redrawn.
 */
export interface ChatScreen {
  /** Columns of a row. */
  readonly width: number;
  /** Prints permanent rows. After `close`, the rows are written directly. */
  print(rows: readonly string[]): void;
  /** Replaces the temporary rows above the input line. */
  show(rows: readonly string[]): void;
  /** Sets the prompt of the input line. */
  setPrompt(text: string): void;
  /** Fills the input line, unless the line already contains text. */
  prefillInput(text: string): void;
  /**
   * Saves and clears the input line and discards pending keystrokes, which were not meant as an answer. Resolves with a
   * function that restores the line.
   */
  suspendInput(): Promise<() => void>;
  /** Prints pending rows and restores the terminal. */
  close(): void;
}

export interface ScreenEvents {
  readonly onLine: (text: string) => void;
  readonly onInterrupt: () => void;
  /** Called on Ctrl-D, or when the terminal is gone. */
  readonly onEnd: () => void;
  /** Returns completions for a word that starts with a slash. */
  readonly complete: (word: string) => readonly string[];
  /** True if typed lines are added to the history of the arrow keys. */
  readonly isHistoryEnabled: () => boolean;
}

interface ScreenStreams {
  readonly input: ReadStream;
  readonly output: WriteStream;
}

export function createChatScreen(streams: ScreenStreams, events: ScreenEvents): ChatScreen {
  return new ReadlineScreen(streams, events);
}

class ReadlineScreen implements ChatScreen {
  readonly #output: WriteStream;
  readonly #events: ScreenEvents;
  readonly #typed: TerminalInput;
  readonly #lines: Interface;
  /** Permanent rows that are not printed yet. */
  #due: string[] = [];
  /** The temporary rows. */
  #rows: readonly string[] = [];
  /** The number of temporary rows on the screen. */
  #drawn = 0;
  #isScheduled = false;
  #isClosed = false;

  constructor({ input, output }: ScreenStreams, events: ScreenEvents) {
    this.#output = output;
    this.#events = events;
    this.#typed = createTerminalInput(input);
    this.#lines = createInterface({
      input: this.#typed.stream,
      output,
      terminal: true,
      historySize: HISTORY_SIZE,
      removeHistoryDuplicates: true,
      completer: (line: string) => [line.startsWith("/") ? [...events.complete(line)] : [], line],
    });
    output.write(PASTE_ON);
    this.#listen();
  }

  #listen(): void {
    const lines = this.#lines;
    const events = this.#events;
    lines.on("line", (line) => this.#receiveLine(line));
    lines.on("history", (history) => {
      if (!events.isHistoryEnabled()) history.shift();
    });
    lines.on("SIGINT", () => events.onInterrupt());
    lines.on("close", () => {
      if (!this.#isClosed) events.onEnd();
    });
  }

  /** The typed line is erased; the listener prints it at the right place. */
  #receiveLine(line: string): void {
    const prompt = stripVTControlCharacters(this.#lines.getPrompt());
    const width = measureText(prompt) + measureText(line);
    this.#erase(Math.floor(width / countColumns(this.#output)) + 1);
    this.#events.onLine(line.replaceAll(LINE_END_SIGN, "\n"));
    this.#schedule();
  }

  get width(): number {
    // The last column is reserved for the cursor.
    return Math.min(countColumns(this.#output) - 1, MAX_WIDTH);
  }

  print(newRows: readonly string[]): void {
    if (this.#isClosed) return void this.#output.write(joinRows(newRows));
    this.#due.push(...newRows);
    this.#schedule();
  }

  show(next: readonly string[]): void {
    this.#rows = next;
    this.#schedule();
  }

  setPrompt(text: string): void {
    if (this.#isClosed || text === this.#lines.getPrompt()) return;
    // The new prompt may be shorter than the old one, so the old rows are erased first.
    const { rows: below } = this.#lines.getCursorPos();
    this.#erase(below);
    this.#output.write("\n".repeat(below));
    this.#lines.setPrompt(text);
    this.#schedule();
  }

  prefillInput(text: string): void {
    if (!this.#isClosed && this.#lines.line === "")
      this.#lines.write(text.replaceAll("\n", LINE_END_SIGN));
  }

  async suspendInput(): Promise<() => void> {
    if (this.#isClosed) return () => {};
    const { line } = this.#lines;
    this.#clearTyped();
    await this.#typed.dropTyped();
    return () => {
      if (this.#isClosed) return;
      // Discards a partly typed answer to a question that is no longer open.
      this.#clearTyped();
      this.#lines.write(line);
    };
  }

  #clearTyped(): void {
    this.#lines.write(null, { ctrl: true, name: "e" });
    this.#lines.write(null, { ctrl: true, name: "u" });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#rows = [];
    const { rows: below } = this.#lines.getCursorPos();
    this.#output.write(formatErase(below + this.#drawn) + joinRows(this.#due) + PASTE_OFF);
    this.#isClosed = true;
    this.#lines.close();
    this.#typed.close();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    setImmediate(() => this.#draw());
  }

  /**
   * Redraws the rows. Readline must find the cursor where it was left: `below` rows after the first row of the input.
   */
  #draw(): void {
    this.#isScheduled = false;
    if (this.#isClosed) return;
    const { rows: below } = this.#lines.getCursorPos();
    const above = this.#visibleRows();
    const text = joinRows([...this.#due, ...above]);
    const erasure = formatErase(below + this.#drawn);
    this.#output.write(BEGIN_UPDATE + erasure + text + "\n".repeat(below));
    this.#due = [];
    this.#drawn = above.length;
    this.#lines.prompt(true);
    this.#output.write(END_UPDATE);
  }

  /** Returns the temporary rows, limited to the height of the screen: rows scrolled out of view cannot be erased. */
  #visibleRows(): readonly string[] {
    const { rows: height } = this.#output;
    return this.#rows.slice(-Math.max(1, (height > 0 ? height : 24) - RESERVED_ROWS));
  }

  /** Erases the temporary rows and the rows of the input above the cursor. */
  #erase(inputRows: number): void {
    this.#output.write(formatErase(inputRows + this.#drawn));
    this.#drawn = 0;
  }
}

/** Formats the sequence that erases the screen from this number of rows above the cursor. */
function formatErase(above: number): string {
  return `${above > 0 ? `\u001b[${above}A` : ""}\r\u001b[J`;
}

function joinRows(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join("");
}

/** Some terminals do not report their size. */
function countColumns({ columns }: WriteStream): number {
  return columns > 0 ? columns : 80;
}

const HISTORY_SIZE = 1000;
/** Columns. Wider rows are hard to read. */
const MAX_WIDTH = 100;
/** Rows of the screen reserved for the input. */
const RESERVED_ROWS = 4;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
/** Terminals with synchronized output display everything between these sequences at once. */
const BEGIN_UPDATE = "\u001b[?2026h";
const END_UPDATE = "\u001b[?2026l";
