import { isUtf8 } from "node:buffer";
import { counted } from "../../../domain/counted.ts";

export interface WindowOptions {
  /** Counted from 1. */
  readonly from: number;
  readonly lines: number;
  readonly characters: number;
  readonly lineCharacters: number;
}

export interface WindowText {
  readonly lines: readonly string[];
  /** How many lines there were in all that came. */
  readonly total: number;
  /** Lines that are not shown to their end. */
  readonly cut: number;
  readonly hasCarriageReturns: boolean;
  readonly isUtf8: boolean;
}

/** Some lines of a text that comes in pieces, however long it and they are; what is not shown is counted. */
export interface LineWindow {
  add(bytes: Uint8Array): void;
  end(): WindowText;
}

export function lineWindow(options: WindowOptions): LineWindow {
  const lines: string[] = [];
  const seen = { cut: 0, hasCarriageReturns: false, isUtf8: true };
  let number = 1;
  let characters = 0;
  let line = openLine();

  const isShown = (): boolean =>
    number >= options.from && lines.length < options.lines && characters < options.characters;
  const take = (piece: Uint8Array): void => {
    line.length += piece.length;
    const room = isShown() ? options.lineCharacters * MOST_BYTES - line.kept : 0;
    if (room <= 0) return;
    // A copy: the piece is a view of a buffer that is read into again.
    const kept = Buffer.from(piece.subarray(0, room));
    line.pieces.push(kept);
    line.kept += kept.length;
  };
  const close = (): void => {
    if (isShown()) {
      const made = textOf(line, Math.min(options.lineCharacters, options.characters - characters));
      lines.push(made.text);
      characters += made.text.length + 1;
      if (made.isCut) seen.cut += 1;
      seen.hasCarriageReturns ||= made.hasCarriageReturn;
      seen.isUtf8 &&= made.isUtf8;
    }
    number += 1;
    line = openLine();
  };

  return {
    add(bytes) {
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        take(bytes.subarray(start, end));
        close();
        start = end + 1;
      }
      if (start < bytes.length) take(bytes.subarray(start));
    },
    end() {
      if (line.length > 0) close();
      return { lines, total: number - 1, ...seen };
    },
  };
}

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** Of one character in UTF-8. */
const MOST_BYTES = 4;

interface OpenLine {
  readonly pieces: Buffer[];
  kept: number;
  length: number;
}

function openLine(): OpenLine {
  return { pieces: [], kept: 0, length: 0 };
}

function textOf({ pieces, length }: OpenLine, limit: number) {
  const whole = Buffer.concat(pieces);
  const isWhole = whole.length === length;
  const hasCarriageReturn = isWhole && whole.at(-1) === CARRIAGE_RETURN;
  const bytes = hasCarriageReturn ? whole.subarray(0, -1) : whole;
  const decoded = bytes.toString();
  const isCut = !isWhole || decoded.length > limit;
  if (!isCut) return { text: decoded, isCut, hasCarriageReturn, isUtf8: isUtf8(bytes) };
  const beginning = wholeCharacters(decoded, limit);
  const left = length - Buffer.byteLength(beginning);
  const text = `${beginning}… [${counted(left, "more byte")} in this line]`;
  return { text, isCut, hasCarriageReturn, isUtf8: !beginning.includes("\ufffd") };
}

/** Never half of a character that JavaScript counts as two. */
function wholeCharacters(text: string, limit: number): string {
  const last = text.charCodeAt(limit - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? limit - 1 : limit);
}
