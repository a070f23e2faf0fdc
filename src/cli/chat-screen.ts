import { createInterface } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";
import { stripVTControlCharacters } from "node:util";
import { chatInput, LINE_END_SIGN } from "./chat-input.ts";
import { textWidth } from "./markdown/text-width.ts";

/** A terminal on which something is said while somebody types. What was printed stays; nothing above is drawn again. */
export interface ChatScreen {
  /** Columns for a row. */
  readonly width: number;
  /** Rows that stay; after the end they are printed as they are. */
  print(rows: readonly string[]): void;
  /** Rows above the line that is typed, which the next ones take the place of. */
  show(rows: readonly string[]): void;
  /** What stands before what is typed. */
  prompt(text: string): void;
  /** Puts this into the line that is typed, unless something stands there. */
  offer(text: string): void;
  /** Puts aside what is typed, and drops what was meant for something else; gives back how to bring it back. */
  setAside(): Promise<() => void>;
  /** Draws what is due, and leaves the terminal as it was. */
  close(): void;
}

export interface ScreenEvents {
  readonly line: (text: string) => void;
  readonly interrupt: () => void;
  /** Ctrl-D, or the terminal is gone. */
  readonly end: () => void;
  /** What a word that begins with a slash may become. */
  readonly complete: (word: string) => readonly string[];
  /** Whether what is typed is to be found again with the arrow keys. */
  readonly isRemembered: () => boolean;
}

export function chatScreen(
  { input, output }: { readonly input: ReadStream; readonly output: WriteStream },
  events: ScreenEvents,
): ChatScreen {
  const typed = chatInput(input);
  let due: string[] = [];
  let rows: readonly string[] = [];
  let drawn = 0;
  let isScheduled = false;
  let isClosed = false;
  const lines = createInterface({
    input: typed.stream,
    output,
    terminal: true,
    historySize: HISTORY,
    removeHistoryDuplicates: true,
    completer: (line: string) => [line.startsWith("/") ? [...events.complete(line)] : [], line],
  });
  output.write(PASTE_ON);

  /** The rows above what is typed, short enough that all of them can be reached. */
  function shown(): readonly string[] {
    return rows.slice(-Math.max(1, (output.rows > 0 ? output.rows : 24) - KEPT_ROWS));
  }

  function erase(above: number): string {
    return `${above > 0 ? `\u001b[${above}A` : ""}\r\u001b[J`;
  }

  /** Readline finds its cursor where it left it: so many rows below the first of what is typed. */
  function draw(): void {
    isScheduled = false;
    if (isClosed) return;
    const { rows: below } = lines.getCursorPos();
    const above = shown();
    const text = linesOf([...due, ...above]);
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
    const width = textWidth(stripVTControlCharacters(lines.getPrompt())) + textWidth(line);
    output.write(erase(Math.floor(width / columnsOf(output)) + 1 + drawn));
    drawn = 0;
    events.line(line.replaceAll(LINE_END_SIGN, "\n"));
    schedule();
  });
  lines.on("history", (history) => {
    if (!events.isRemembered()) history.shift();
  });
  lines.on("SIGINT", () => events.interrupt());
  lines.on("close", () => {
    if (!isClosed) events.end();
  });

  return {
    get width() {
      // The last column is left to the cursor.
      return Math.min(columnsOf(output) - 1, WIDEST);
    },
    print(more) {
      if (isClosed) return void output.write(linesOf(more));
      due.push(...more);
      schedule();
    },
    show(next) {
      rows = next;
      schedule();
    },
    prompt(text) {
      if (isClosed || text === lines.getPrompt()) return;
      // It may be shorter than what it takes the place of.
      const { rows: below } = lines.getCursorPos();
      output.write(erase(below + drawn));
      drawn = 0;
      output.write("\n".repeat(below));
      lines.setPrompt(text);
      schedule();
    },
    offer(text) {
      if (!isClosed && lines.line === "") lines.write(text.replaceAll("\n", LINE_END_SIGN));
    },
    async setAside() {
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
      output.write(erase(below + drawn) + linesOf(due) + PASTE_OFF);
      isClosed = true;
      lines.close();
      typed.close();
    },
  };
}

function linesOf(rows: readonly string[]): string {
  return rows.map((row) => `${row}\n`).join("");
}

/** Some terminals do not say. */
function columnsOf({ columns }: WriteStream): number {
  return columns > 0 ? columns : 80;
}

const HISTORY = 1000;
/** Lines that are longer are tiring to read. */
const WIDEST = 100;
/** Rows of the screen that are left for what is typed. */
const KEPT_ROWS = 4;
const PASTE_ON = "\u001b[?2004h";
const PASTE_OFF = "\u001b[?2004l";
/** Terminals that know it show all that lies between at once. */
const BEGIN_UPDATE = "\u001b[?2026h";
const END_UPDATE = "\u001b[?2026l";
