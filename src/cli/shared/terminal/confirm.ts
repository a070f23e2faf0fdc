import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { pauseOutput, type PausedOutput } from "../../../platform/terminal/paused-output.ts";
import { dropPendingInput } from "../../../platform/terminal/pending-input.ts";
import { wrapLines } from "./wrap-lines.ts";
import type { CommandIo } from "../../../platform/process/command-io.ts";

export interface AskOptions {
  readonly io: CommandIo;
  readonly signal: AbortSignal;
  /** Facts needed for the answer, printed above the question each time. */
  readonly background?: string;
  /** The background without omissions, printed on `d`. Undefined if nothing was omitted. */
  readonly fullText?: string;
}

/**
 * Asks a yes/no question in the terminal. Returns null without a terminal. Other output pauses until the answer, and
 * input typed before the question is discarded, so it cannot answer by accident.
 */
export async function confirm(question: string, options: AskOptions): Promise<boolean | null> {
  return withTerminal(options, (heldOutput) => askUntilClear(question, options, heldOutput));
}

/**
 * Asks for a line of text in the terminal. `read` returns the value of a line, or undefined to ask again. Returns null
 * without a terminal, and undefined if the person gives no valid answer.
 */
export async function askForText<Value>(
  question: string,
  options: AskOptions,
  read: (line: string) => Value | undefined,
): Promise<Value | undefined | null> {
  return withTerminal(options, ({ print }) =>
    withLines(options, print, async (readLine) => {
      print(wrapLines(options.background ?? "", options.io.stderr.columns));
      for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
        const line = await readLine(question);
        if (line === undefined) return undefined;
        const value = read(line);
        if (value !== undefined) return value;
      }
      return undefined;
    }),
  );
}

async function withTerminal<Value>(
  options: AskOptions,
  ask: (heldOutput: PausedOutput) => Promise<Value>,
): Promise<Value | null> {
  const { stdin } = options.io;
  if (!hasTerminal(options.io)) return null;
  const heldOutput = pauseOutput(options.io);
  stdin.ref?.();
  try {
    await dropPendingInput(stdin, interrupt);
    options.signal.throwIfAborted();
    return await ask(heldOutput);
  } finally {
    heldOutput.resume();
    // No more input is read, and an open stdin must not keep the process alive.
    stdin.unref?.();
  }
}

/** True if a person can answer: stdin and stderr are terminals. */
function hasTerminal({ stdin, stderr }: CommandIo): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

type ReadLine = (prompt: string) => Promise<string | undefined>;

/** Reads lines from the terminal. A line is undefined if the input ends. */
async function withLines<Value>(
  { io, signal }: AskOptions,
  print: PausedOutput["print"],
  ask: (readLine: ReadLine) => Promise<Value>,
): Promise<Value> {
  const output = new Writable({
    write(chunk, _, done) {
      print(String(chunk));
      done();
    },
  });
  const { columns } = io.stderr;
  const lines = createInterface({
    input: io.stdin,
    output: Object.assign(output, { columns }),
    terminal: true,
    historySize: 0,
  });
  // Readline in terminal mode receives Ctrl-C as an event, so no SIGINT arrives.
  lines.on("SIGINT", interrupt);
  try {
    return await ask(async (prompt) => {
      const line = await lines.question(prompt, { signal }).catch(rethrowIfAborted(signal));
      if (line === undefined) print("\n");
      return line;
    });
  } finally {
    lines.close();
  }
}

async function askUntilClear(
  question: string,
  options: AskOptions,
  { print }: PausedOutput,
): Promise<boolean> {
  const { io, background = "", fullText } = options;
  const { columns } = io.stderr;
  return withLines(options, print, async (readLine) => {
    for (let attempts = 0; attempts < MAX_ATTEMPTS;) {
      print(wrapLines(background, columns));
      const choices = fullText === undefined ? "[y/N]" : "[y/N/d]";
      const answer = (await readLine(`${question} ${choices} `))?.trim().toLowerCase();
      if (answer === undefined || ["", "n", "no"].includes(answer)) return false;
      if (answer === "y" || answer === "yes") return true;
      if (fullText !== undefined && answer === "d") {
        print(wrapLines(fullText, columns));
        continue;
      }
      attempts += 1;
      print(
        attempts < MAX_ATTEMPTS
          ? "Please answer y or n.\n"
          : "That is not one of the options; treated as no.\n",
      );
    }
    return false;
  });
}

/** After three invalid answers no person is assumed at the terminal. */
const MAX_ATTEMPTS = 3;

/** Ctrl-D closes the input; an abort is thrown again. */
function rethrowIfAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (signal.aborted) throw error;
  };
}

function interrupt(): void {
  process.kill(process.pid, "SIGINT");
}
