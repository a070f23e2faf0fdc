import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import type { CommandLine } from "./command-line.ts";
import { renderScreen } from "./render-screen.ts";
import { PROCESS_MS, withDeadline } from "./with-deadline.ts";

/** The command in a terminal of its own, with somebody who types. */
export interface TerminalSession {
  readonly child: ChildProcess;
  /** Resolves when this was printed behind what was waited for before; with all until then. */
  waitForText(words: string): Promise<string>;
  typeKeys(keys: string): void;
  /** The exit code, when all that was printed is here. */
  readonly exitCode: Promise<number | null>;
  /** All that was printed, without colours, also what is not on the screen any more. */
  readonly output: string;
  /** What is there to be read, row by row. */
  readonly screen: readonly string[];
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** The folder of all when it is not given. */
  readonly workingDirectory?: string;
}

export function startInTerminal(
  { folder }: CommandLine,
  args: readonly string[],
  { columns = 80, environment = {}, workingDirectory = folder }: TerminalOptions = {},
): TerminalSession {
  const line = [process.execPath, join(folder, "bin/main.mjs"), ...args].map(quoteShell).join(" ");
  const child = spawn(
    "script",
    ["-qfec", `stty cols ${columns} rows 50; exec ${line}`, "/dev/null"],
    {
      cwd: workingDirectory,
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        SHELL: "/bin/sh",
        TERM: "xterm",
        NO_COLOR: "1",
        SPANLINE_DATA_DIR: join(folder, "data"),
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
