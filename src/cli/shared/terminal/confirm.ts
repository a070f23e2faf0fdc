import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { pauseOutput, type PausedOutput } from "../../../platform/terminal/paused-output.ts";
import { dropPendingInput } from "../../../platform/terminal/pending-input.ts";
import { wrapLines } from "./wrap-lines.ts";
import type { CommandIo } from "../../../platform/process/command-io.ts";

export interface AskOptions {
  readonly io: CommandIo;
  readonly signal: AbortSignal;
  /** What has to be known to answer; it stands above the question each time that it is asked. */
  readonly background?: string;
  /** All of it, for whoever says `d`; absent where nothing was left out. */
  readonly fullText?: string;
}

/**
 * Asks a person whether to go on. Null when there is nobody to ask. Until it is answered nothing else is printed, and what
 * was typed before it stood there is no answer to it.
 */
export async function confirm(question: string, options: AskOptions): Promise<boolean | null> {
  const { stdin } = options.io;
  if (!hasTerminal(options.io)) return null;
  const heldOutput = pauseOutput(options.io);
  stdin.ref?.();
  try {
    await dropPendingInput(stdin, interrupt);
    options.signal.throwIfAborted();
    return await askUntilClear(question, options, heldOutput);
  } finally {
    heldOutput.resume();
    // Nobody reads on, and what it may still wait for must not keep the process.
    stdin.unref?.();
  }
}

/** Whether there is somebody to ask. */
function hasTerminal({ stdin, stderr }: CommandIo): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

async function askUntilClear(
  question: string,
  { io, signal, background = "", fullText }: AskOptions,
  { print }: PausedOutput,
): Promise<boolean> {
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
  // The terminal hands Ctrl-C to whoever reads its lines.
  lines.on("SIGINT", interrupt);
  try {
    for (let attempts = 0; attempts < MAX_ATTEMPTS;) {
      print(wrapLines(background, columns));
      const choices = fullText === undefined ? "[y/N]" : "[y/N/d]";
      const line = lines.question(`${question} ${choices} `, { signal });
      const answer = (await line.catch(rethrowIfAborted(signal)))?.trim().toLowerCase();
      if (answer === undefined) print("\n");
      if (answer === undefined || ["", "n", "no"].includes(answer)) return false;
      if (answer === "y" || answer === "yes") return true;
      if (fullText !== undefined && answer === "d") {
        print(wrapLines(fullText, columns));
        continue;
      }
      attempts += 1;
      print(
        attempts < MAX_ATTEMPTS ? "Please say y or n.\n" : "That is no answer; it counts as no.\n",
      );
    }
    return false;
  } finally {
    lines.close();
  }
}

/** Somebody who answers with anything else three times is not there, or is no person. */
const MAX_ATTEMPTS = 3;

/** Ctrl-D: there is no answer to come. */
function rethrowIfAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (signal.aborted) throw error;
  };
}

function interrupt(): void {
  process.kill(process.pid, "SIGINT");
}
