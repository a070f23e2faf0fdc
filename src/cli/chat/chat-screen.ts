import { createInterface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { createTerminalInput, LINE_END_SIGN } from "./terminal-input.ts";
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

export function createChatScreen(
  { input, output }: { readonly input: ReadStream; readonly output: WriteStream },
  events: ScreenEvents,
): ChatScreen {
  const typed = createTerminalInput(input);
  let due: string[] = [];
  let rows: readonly string[] = [];
  let drawn = 0;
  let isScheduled = false;
  let isClosed = false;
  const lines = createInterface({
    input: typed.stream,
    output,
    terminal: true,
    historySize: HISTORY_SIZE,
    removeHistoryDuplicates: true,
    completer: (line: string) => [line.startsWith("/") ? [...events.complete(line)] : [], line],
  });
  output.write(PASTE_ON);

  /** Returns the temporary rows, limited to the height of the screen: rows scrolled out of view cannot be erased. */
  function visibleRows(): readonly string[] {
    return rows.slice(-Math.max(1, (output.rows > 0 ? output.rows : 24) - RESERVED_ROWS));
  }

  function erase(above: number): string {
    return `${above > 0 ? `\u001b[${above}A` : ""}\r\u001b[J`;
  }

  /**
   * Redraws the rows. Readline must find the cursor where it was left: `below` rows after the first row of the input.
   */
  function draw(): void {
    isScheduled = false;
    if (isClosed) return;
    const { rows: below } = lines.getCursorPos();
    const above = visibleRows();
    const text = joinRows([...due, ...above]);
    output.write(BEGIN_UPDATE + erase(below + drawn) + text + "\n".repeat(below));
    due = [];
    drawn = above.length;
    lines.prompt(true);
    output.write(END_UPDATE);
  }

  function clearTyped(): void {
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
  }

  function schedule(): void {
    if (isScheduled || isClosed) return;
    isScheduled = true;
    setImmediate(draw);
  }

  /** The typed line is erased; the listener prints it at the right place. */
  lines.on("line", (line) => {
    const width = measureText(stripVTControlCharacters(lines.getPrompt())) + measureText(line);
    output.write(erase(Math.floor(width / countColumns(output)) + 1 + drawn));
    drawn = 0;
    events.onLine(line.replaceAll(LINE_END_SIGN, "\n"));
    schedule();
  });
  lines.on("history", (history) => {
    if (!events.isHistoryEnabled()) history.shift();
  });
  lines.on("SIGINT", () => events.onInterrupt());
  lines.on("close", () => {
    if (!isClosed) events.onEnd();
  });

  return {
    get width() {
      // The last column is reserved for the cursor.
      return Math.min(countColumns(output) - 1, MAX_WIDTH);
    },
    print(newRows) {
      if (isClosed) return void output.write(joinRows(newRows));
      due.push(...newRows);
      schedule();
    },
    show(next) {
      rows = next;
      schedule();
    },
    setPrompt(text) {
      if (isClosed || text === lines.getPrompt()) return;
      // The new prompt may be shorter than the old one, so the old rows are erased first.
      const { rows: below } = lines.getCursorPos();
      output.write(erase(below + drawn));
      drawn = 0;
      output.write("\n".repeat(below));
      lines.setPrompt(text);
      schedule();
    },
    prefillInput(text) {
      if (!isClosed && lines.line === "") lines.write(text.replaceAll("\n", LINE_END_SIGN));
    },
    async suspendInput() {
      if (isClosed) return () => {};
      const { line } = lines;
      clearTyped();
      await typed.dropTyped();
      return () => {
        if (isClosed) return;
        // Discards a partly typed answer to a question that is no longer open.
        clearTyped();
        lines.write(line);
      };
    },
    close() {
      if (isClosed) return;
      rows = [];
      const { rows: below } = lines.getCursorPos();
      output.write(erase(below + drawn) + joinRows(due) + PASTE_OFF);
      isClosed = true;
      lines.close();
      typed.close();
    },
  };
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
