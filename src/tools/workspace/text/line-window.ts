import { isUtf8 } from "node:buffer";
import { cutText } from "../../../text/cut-text.ts";
import { pluralize } from "../../../text/pluralize.ts";

export interface WindowOptions {
  /** Starts at 1. */
  readonly from: number;
  readonly lines: number;
  readonly characters: number;
  readonly lineCharacters: number;
}

export interface WindowText {
  readonly lines: readonly string[];
  /** Number of lines in the whole input. */
  readonly total: number;
  /** Number of lines which were cut. */
  readonly cut: number;
  readonly hasCarriageReturns: boolean;
  readonly isUtf8: boolean;
}

/** Selects some lines from chunks of text. Works for any length of text and lines; omitted lines are only counted. */
export interface LineWindow {
  add(bytes: Uint8Array): void;
  end(): WindowText;
}

export function createLineWindow(options: WindowOptions): LineWindow {
  const lines: string[] = [];
  const totals = { cut: 0, hasCarriageReturns: false, isUtf8: true };
  let number = 1;
  let characters = 0;
  let line = createOpenLine();

  const isInWindow = (): boolean =>
    number >= options.from && lines.length < options.lines && characters < options.characters;
  const append = (piece: Uint8Array): void => {
    line.length += piece.length;
    const available = isInWindow()
      ? options.lineCharacters * MAX_CHARACTER_BYTES - line.storedBytes
      : 0;
    if (available <= 0) return;
    // Copied, since the chunk is a view of a reused buffer.
    const copy = Buffer.from(piece.subarray(0, available));
    line.pieces.push(copy);
    line.storedBytes += copy.length;
  };
  const close = (): void => {
    if (isInWindow()) {
      const decodedLine = decodeLine(
        line,
        Math.min(options.lineCharacters, options.characters - characters),
      );
      lines.push(decodedLine.text);
      characters += decodedLine.text.length + 1;
      if (decodedLine.isCut) totals.cut += 1;
      totals.hasCarriageReturns ||= decodedLine.hasCarriageReturn;
      totals.isUtf8 &&= decodedLine.isUtf8;
    }
    number += 1;
    line = createOpenLine();
  };

  return {
    add(bytes) {
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        append(bytes.subarray(start, end));
        close();
        start = end + 1;
      }
      if (start < bytes.length) append(bytes.subarray(start));
    },
    end() {
      if (line.length > 0) close();
      return { lines, total: number - 1, ...totals };
    },
  };
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Maximum bytes of a character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;

interface OpenLine {
  readonly pieces: Buffer[];
  storedBytes: number;
  length: number;
}

function createOpenLine(): OpenLine {
  return { pieces: [], storedBytes: 0, length: 0 };
}

function decodeLine({ pieces, length }: OpenLine, limit: number) {
  const buffer = Buffer.concat(pieces);
  const isComplete = buffer.length === length;
  const hasCarriageReturn = isComplete && buffer.at(-1) === CARRIAGE_RETURN;
  const bytes = hasCarriageReturn ? buffer.subarray(0, -1) : buffer;
  const decoded = bytes.toString();
  const isCut = !isComplete || decoded.length > limit;
  if (!isCut) return { text: decoded, isCut, hasCarriageReturn, isUtf8: isUtf8(bytes) };
  const beginning = cutText(decoded, limit);
  const omitted = length - Buffer.byteLength(beginning);
  const text = `${beginning}… [${pluralize(omitted, "more byte")} in this line]`;
  return { text, isCut, hasCarriageReturn, isUtf8: !beginning.includes("\ufffd") };
}
