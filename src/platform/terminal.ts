/** Where a command writes. stdout carries its result and nothing else; notes and progress go to stderr. */
export interface Terminal {
  /** Resolves when the reader can take more; false when the reader is gone. */
  write(text: string): Promise<boolean>;
  note(text: string): void;
  /** Shows a line on stderr that the next one replaces; an empty one clears it. Nothing unless a person watches. */
  progress(text: string): void;
  readonly colours: boolean;
}

export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process;
  let gone = false;
  let showing = false;
  const show = (text: string): void => {
    if (stderr.isTTY && (showing || text !== "")) stderr.write(`\r\u001b[K${text}`);
    showing = text !== "";
  };
  // The reader of a pipe may leave at any time (`| head`); that is no fault of ours.
  stdout.on("error", () => (gone = true));
  return {
    async write(text) {
      show("");
      if (!gone && !stdout.write(text) && !gone) await drained(stdout);
      return !gone;
    },
    note: (text) => void stderr.write(text),
    progress: show,
    colours: stdout.isTTY && env["NO_COLOR"] === undefined && env["TERM"] !== "dumb",
  };
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done).off("error", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("error", done).on("close", done);
  });
}
