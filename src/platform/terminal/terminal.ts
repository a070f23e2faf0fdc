import type { CommandIo, OutputStream } from "../process/command-io.ts";

/** The output of a command. stdout carries only the result; notes and progress go to stderr. */
export interface Terminal {
  /**
   * Resolves when the reader accepts more output. False if the reader is gone. Writing an empty string only checks for
   * a reader. The check works for sockets only: a pipe reports a missing reader only to a real write.
   */
  write(text: string): Promise<boolean>;
  note(text: string): void;
  /**
   * Shows a progress line on stderr, which replaces the previous line. An empty string clears the line. Has no effect
   * unless stderr is a terminal.
   */
  showProgress(text: string): void;
  readonly hasColours: boolean;
  /** True if notes on stderr may use colours. */
  readonly hasNoteColours: boolean;
  /** True if stdout is a terminal. */
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
  // Lost notes are harmless, so errors of stderr are ignored.
  stderr.on("error", () => {});
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    isReaderGone = true;
    // EPIPE is normal: the reader of a pipe may stop at any time (`| head`). Other errors, such as a full disk, are
    // thrown.
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

/** Resolves when the text was written or the write failed. */
function waitForWrite(stream: OutputStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    stream.write(text, () => resolve());
  });
}
