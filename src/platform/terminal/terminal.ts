import type { CommandIo, OutputStream } from "../process/command-io.ts";

/** Where a command writes. stdout carries its result and nothing else; notes and progress go to stderr. */
export interface Terminal {
  /**
   * Resolves when the reader can take more; false when the reader is gone. An empty text only asks, and hears it only
   * of a socket: a pipe tells nobody but who writes to it.
   */
  write(text: string): Promise<boolean>;
  note(text: string): void;
  /** Shows a line on stderr that the next one replaces; an empty one clears it. Nothing unless a person watches. */
  showProgress(text: string): void;
  readonly hasColours: boolean;
  /** The same for notes. */
  readonly hasNoteColours: boolean;
  /** A person reads stdout, and not a program. */
  readonly isInteractive: boolean;
}

export function createTerminal({ stdout, stderr, env }: CommandIo): Terminal {
  const mayColour = env["NO_COLOR"] === undefined && env["TERM"] !== "dumb";
  let isReaderGone = false;
  let isShowing = false;
  const showLine = (text: string): void => {
    if (stderr.isTTY === true && (isShowing || text !== "")) stderr.write(`\r\u001b[K${text}`);
    isShowing = text !== "";
  };
  let failure: Error | undefined;
  // Notes that nobody reads are nobody's loss.
  stderr.on("error", () => {});
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    isReaderGone = true;
    // The reader of a pipe may leave at any time (`| head`); that is no fault. A full disk is one.
    if (error.code !== "EPIPE") failure = error;
  });
  stdout.on("close", () => void (isReaderGone = true));
  return {
    async write(text) {
      if (text !== "") showLine("");
      if (!isReaderGone) await waitForWrite(stdout, text);
      if (failure !== undefined) throw failure;
      return !isReaderGone;
    },
    note: (text) => void stderr.write(text),
    showProgress: showLine,
    isInteractive: stdout.isTTY === true,
    hasColours: stdout.isTTY === true && mayColour,
    hasNoteColours: stderr.isTTY === true && mayColour,
  };
}

/** Resolves when the text has left the process, or cannot. */
function waitForWrite(stream: OutputStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}
