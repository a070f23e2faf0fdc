import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { systemClock } from "../../platform/clock.ts";

/** Keyboard input in which a pasted text is converted to a single line. */
export interface TerminalInput {
  /** Input for `node:readline`. */
  readonly stream: NodeJS.ReadableStream;
  /** Discards pending keystrokes until the input is quiet, since they were not meant for the question. */
  dropTyped(): Promise<void>;
  close(): void;
}

/** Represents a line end within the input line. */
export const LINE_END_SIGN = "␤";

export function createTerminalInput(terminal: ReadStream): TerminalInput {
  const stream = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => terminal.setRawMode(isRaw),
  });
  const unpaste = createPasteReader();
  let isDropping = false;
  let isQuiet = false;
  const receive = (typed: string): void => {
    isQuiet = false;
    const text = unpaste(typed);
    if (!isDropping) stream.write(text);
    else if (text.includes(CTRL_C)) stream.write(CTRL_C);
  };
  terminal.setEncoding("utf8");
  terminal.on("data", receive);
  terminal.on("end", () => stream.end());
  return {
    stream,
    async dropTyped() {
      isDropping = true;
      for (let round = 0, quiet = 0; quiet < QUIET_ROUNDS && round < MAX_ROUNDS; round += 1) {
        isQuiet = true;
        await new Promise<void>((resolve) => void systemClock.schedule(QUIET_MS, resolve));
        quiet = isQuiet ? quiet + 1 : 0;
      }
      isDropping = false;
    },
    close() {
      terminal.off("data", receive);
      terminal.pause();
      stream.end();
    },
  };
}

const CTRL_C = "\u0003";
/** The same values as for other questions: long enough for pending keystrokes to arrive, checked more than once. */
const QUIET_MS = 25;
const QUIET_ROUNDS = 2;
const MAX_ROUNDS = 40;

/** Parses bracketed pastes. Within a paste, line ends do not submit the input, and control characters are removed. */
export function createPasteReader(): (typed: string) => string {
  let pending = "";
  let isPasted = false;
  return (typed) => {
    const text = pending + typed;
    pending = PARTIAL_MARK.exec(text)?.[0] ?? "";
    // A lone escape is a key, not the start of a mark.
    if (pending === ESCAPE && !isPasted) pending = "";
    return text
      .slice(0, text.length - pending.length)
      .split(MARK)
      .map((part) => {
        if (part === BEGIN || part === END) {
          isPasted = part === BEGIN;
          return "";
        }
        return isPasted ? sanitizePaste(part) : part;
      })
      .join("");
  };
}

function sanitizePaste(text: string): string {
  return text
    .replaceAll(/\r\n?|\n/g, LINE_END_SIGN)
    .replaceAll("\t", "    ")
    .replaceAll(CONTROL, "");
}

const ESCAPE = "\u001b";
const BEGIN = "\u001b[200~";
const END = "\u001b[201~";
/* oxlint-disable no-control-regex -- sequences sent by terminals */
const MARK = /(\u001b\[20[01]~)/;
const PARTIAL_MARK = /\u001b(?:\[(?:2(?:0[01]?)?)?)?$/;
const CONTROL = /[\u0000-\u001f\u007f]/g;
