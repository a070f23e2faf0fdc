/**
 * Breaks indented lines at the terminal's width and indents each row. Without this the terminal would break them, and
 * tool output at the start of a row could imitate a Spanline question.
 */
export function wrapLines(text: string, columns: number | undefined): string {
  return text
    .split("\n")
    .flatMap((line) => {
      const indent = /^ */.exec(line)?.[0].slice(0, MAX_INDENT) ?? "";
      const width = (columns ?? 0) - indent.length;
      if (indent === "" || width < MIN_WIDTH) return [line];
      return breakLine(line.slice(indent.length), width).map((piece) => indent + piece);
    })
    .join("\n");
}

/** The indent of tool output under its tool call in a trace. More belongs to the output itself. */
const MAX_INDENT = 4;
const MIN_WIDTH = 20;

/** Breaks a text into rows of at most `width` columns. Spanline's own colors do not count. */
export function breakLine(text: string, width: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  let usedWidth = 0;
  for (const [sign] of text.matchAll(CHARACTERS)) {
    const wide = measureCharacter(sign);
    if (usedWidth + wide > width) {
      pieces.push(piece);
      [piece, usedWidth] = ["", 0];
    }
    piece += sign;
    usedWidth += wide;
  }
  return [...pieces, piece];
}

// oxlint-disable-next-line no-control-regex -- the escape sequence of Spanline's own colors
const CHARACTERS = /\u001b\[[0-9;]*m|[^]/gu;

/** An upper bound: a line broken too early does no harm. */
function measureCharacter(sign: string): number {
  if (sign === "\t") return 8;
  if (sign.endsWith("m") && sign.length > 1) return 0;
  return (sign.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}
