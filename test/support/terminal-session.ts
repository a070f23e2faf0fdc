import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import type { CommandLine } from "./command-line.ts";
import { PROCESS_MS, withDeadline } from "./with-deadline.ts";

/** The command in a pseudo terminal, with simulated key input. */
export interface TerminalSession {
  readonly child: ChildProcess;
  /** Resolves when the words are printed after the previous match. Returns all output since then. */
  waitForText(words: string): Promise<string>;
  typeKeys(keys: string): void;
  /** The exit code, available when all output has been received. */
  readonly exitCode: Promise<number | null>;
  /** All output without colours, including text no longer on the screen. */
  readonly output: string;
  /** The visible text, row by row. */
  readonly screen: readonly string[];
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** Default for the bundled command: its folder. */
  readonly workingDirectory?: string;
}

/** Starts the bundled command in a pseudo terminal. */
export function startInTerminal(
  { folder }: CommandLine,
  args: readonly string[],
  { environment = {}, workingDirectory = folder, ...options }: TerminalOptions = {},
): TerminalSession {
  return startProgramInTerminal([process.execPath, join(folder, "bin/main.mjs"), ...args], {
    ...options,
    workingDirectory,
    environment: { HOME: folder, SPANLINE_DATA_DIR: join(folder, "data"), ...environment },
  });
}

/** Starts a program with its arguments in a pseudo terminal. */
export function startProgramInTerminal(
  program: readonly string[],
  { columns = 80, environment, workingDirectory }: TerminalOptions,
): TerminalSession {
  const line = program.map(quoteShell).join(" ");
  const child = spawn(
    "script",
    ["-qfec", `stty cols ${columns} rows 50; exec ${line}`, "/dev/null"],
    {
      cwd: workingDirectory,
      env: {
        PATH: process.env["PATH"],
        SHELL: "/bin/sh",
        TERM: "xterm",
        NO_COLOR: "1",
        ...environment,
      },
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const exitCode = once(child, "close").then(([status]) =>
    typeof status === "number" ? status : null,
  );
  let all = "";
  let seen = 0;
  let changed = (): void => {};
  child.stdout.setEncoding("utf8");
  child.stdout.on("data", (piece: string) => {
    all += piece;
    changed();
  });
  child.stdout.on("end", () => changed());
  const plain = (): string => stripVTControlCharacters(all).replaceAll("\r", "");
  return {
    child,
    exitCode,
    get output() {
      return plain();
    },
    get screen() {
      return renderScreen(all, columns);
    },
    typeKeys: (keys) => void child.stdin.write(keys),
    async waitForText(words) {
      for (;;) {
        const text = plain();
        const at = text.indexOf(words, seen);
        if (at !== -1) {
          const until = text.slice(seen, at + words.length);
          seen = at + words.length;
          return until;
        }
        if (child.stdout.readableEnded)
          throw new Error(`"${words}" was not shown: ${text.slice(seen)}`);
        const change = new Promise<void>((resolve) => (changed = resolve));
        await withDeadline(
          change,
          () => `"${words}" is not shown: ${text.slice(seen)}`,
          PROCESS_MS,
        );
      }
    },
  };
}

function quoteShell(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * Renders the screen of a terminal after this output, including rows scrolled away. Supports only the control sequences
 * used here.
 */
function renderScreen(output: string, columns: number): string[] {
  const rows: string[][] = [[]];
  let [row, column] = [0, 0];
  const at = (): string[] => (rows[row] ??= []);
  // oxlint-disable-next-line no-control-regex -- what terminals are sent
  for (const [sign, count = "", command] of output.matchAll(/\u001b\[([?\d;]*)([A-Za-z])|[^]/gu)) {
    const number = Math.max(1, Number(count) || 1);
    if (command === undefined) {
      if (sign === "\n") row += 1;
      else if (sign === "\r") column = 0;
      else {
        if (column >= columns) [row, column] = [row + 1, 0];
        at()[column] = sign;
        column += 1;
      }
    } else if (command === "A") row = Math.max(0, row - number);
    else if (command === "B") row += number;
    else if (command === "C") column += number;
    else if (command === "D") column = Math.max(0, column - number);
    else if (command === "G") column = number - 1;
    else if (command === "K") at().splice(column);
    else if (command === "J") {
      at().splice(column);
      rows.splice(row + 1);
    }
  }
  const texts: string[] = [];
  for (let index = 0; index < rows.length; index += 1) {
    texts.push(Array.from(rows[index] ?? [], (one: string | undefined) => one ?? " ").join(""));
  }
  return texts.map((text) => text.trimEnd());
}
