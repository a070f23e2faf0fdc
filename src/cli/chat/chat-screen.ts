import { createInterface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { createTerminalInput, LINE_END_SIGN } from "./terminal-input.ts";
import { measureText } from "../markdown/text-width.ts";

/** A terminal on which something is said while somebody types. What was printed stays; nothing above is drawn again. */
export interface ChatScreen {
  /** Columns for a row. */
  readonly width: number;
  /** Rows that stay; after the end they are printed as they are. */
  print(rows: readonly string[]): void;
  /** Rows above the line that is typed, which the next ones take the place of. */
  show(rows: readonly string[]): void;
  /** What stands before what is typed. */
  setPrompt(text: string): void;
  /** Puts this into the line that is typed, unless something stands there. */
  prefillInput(text: string): void;
  /** Puts aside what is typed, and drops what was meant for something else; gives back how to bring it back. */
  suspendInput(): Promise<() => void>;
  /** Draws what is due, and leaves the terminal as it was. */
  close(): void;
}

export interface ScreenEvents {
  readonly onLine: (text: string) => void;
  readonly onInterrupt: () => void;
  /** Ctrl-D, or the terminal is gone. */
  readonly onEnd: () => void;
  /** What a word that begins with a slash may become. */
  readonly complete: (word: string) => readonly string[];
  /** Whether what is typed is to be found again with the arrow keys. */
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

  /** The rows above what is typed, short enough that all of them can be reached. */
  function visibleRows(): readonly string[] {
    return rows.slice(-Math.max(1, (output.rows > 0 ? output.rows : 24) - RESERVED_ROWS));
  }

  function erase(above: number): string {
    return `${above > 0 ? `\u001b[${above}A` : ""}\r\u001b[J`;
  }

  /** Readline finds its cursor where it left it: so many rows below the first of what is typed. */
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

  /** What was typed is taken off the screen; whoever hears of it prints it where it belongs. */
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
      // The last column is left to the cursor.
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
      // It may be shorter than what it takes the place of.
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
        // An answer that was begun, and is no longer asked for.
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

/** Some terminals do not say. */
function countColumns({ columns }: WriteStream): number {
  return columns > 0 ? columns : 80;
}

const HISTORY_SIZE = 1000;
/** Lines that are longer are tiring to read. */
const MAX_WIDTH = 100;
/** Rows of the screen that are left for what is typed. */
const RESERVED_ROWS = 4;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
/** Terminals that know it show all that lies between at once. */
const BEGIN_UPDATE = "\u001b[?2026h";
const END_UPDATE = "\u001b[?2026l";
