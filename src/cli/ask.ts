import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { holdOutput, type HeldOutput } from "../platform/held-output.ts";
import { dropPendingInput } from "../platform/pending-input.ts";
import { folded } from "./folded.ts";

export interface AskOptions {
  readonly signal: AbortSignal;
  /** What has to be known to answer; it stands above the question each time that it is asked. */
  readonly above?: string;
  /** All of it, for whoever says `d`; absent where nothing was left out. */
  readonly whole?: string;
}

/**
 * Asks a person whether to go on. Null when there is nobody to ask. Until it is answered nothing else is printed, and what
 * was typed before it stood there is no answer to it.
 */
export async function askWhether(question: string, options: AskOptions): Promise<boolean | null> {
  if (!canAsk()) return null;
  const held = holdOutput();
  process.stdin.ref();
  try {
    await dropPendingInput(interrupt);
    options.signal.throwIfAborted();
    return await askedUntilClear(question, options, held);
  } finally {
    held.release();
    // Nobody reads on, and what it may still wait for must not keep the process.
    process.stdin.unref();
  }
}

/** Whether there is somebody to ask. */
function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

async function askedUntilClear(
  question: string,
  { signal, above = "", whole }: AskOptions,
  { print }: HeldOutput,
): Promise<boolean> {
  const output = new Writable({
    write(chunk, _, done) {
      print(String(chunk));
      done();
    },
  });
  const columns = process.stderr.columns;
  const lines = createInterface({
    input: process.stdin,
    output: Object.assign(output, { columns }),
    terminal: true,
    historySize: 0,
  });
  // The terminal hands Ctrl-C to whoever reads its lines.
  lines.on("SIGINT", interrupt);
  try {
    for (let asked = 0; asked < MOST_ASKED;) {
      print(fitted(above));
      const choices = whole === undefined ? "[y/N]" : "[y/N/d]";
      const line = lines.question(`${question} ${choices} `, { signal });
      const answer = (await line.catch(unlessAborted(signal)))?.trim().toLowerCase();
      if (answer === undefined) print("\n");
      if (answer === undefined || ["", "n", "no"].includes(answer)) return false;
      if (answer === "y" || answer === "yes") return true;
      if (whole !== undefined && answer === "d") {
        print(fitted(whole));
        continue;
      }
      asked += 1;
      print(asked < MOST_ASKED ? "Please say y or n.\n" : "That is no answer; it counts as no.\n");
    }
    return false;
  } finally {
    lines.close();
  }
}

/** Somebody who answers with anything else three times is not there, or is no person. */
const MOST_ASKED = 3;

/** Ctrl-D: there is no answer to come. */
function unlessAborted(signal: AbortSignal): (error: unknown) => undefined {
  return (error) => {
    if (signal.aborted) throw error;
  };
}

/** Nothing of what is shown begins a line, so that nothing of it looks like the question. */
function fitted(text: string): string {
  return folded(text, process.stderr.columns);
}

function interrupt(): void {
  process.kill(process.pid, "SIGINT");
}
