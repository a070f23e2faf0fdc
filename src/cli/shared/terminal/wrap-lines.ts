/**
 * Indented lines that are wider than the terminal, broken where it would break them, with their indent: what a tool says
 * begins no line, so that it cannot look like a question of ours.
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

/** As deep as traces put what was said under its call; more is the tool's own. */
const MAX_INDENT = 4;
const MIN_WIDTH = 20;

/** Pieces of a text that are no wider than this; our own colours may be in it. */
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

// oxlint-disable-next-line no-control-regex -- what begins our own colours
const CHARACTERS = /\u001b\[[0-9;]*m|[^]/gu;

/** At most: a line that is broken too early harms nobody. */
function measureCharacter(sign: string): number {
  if (sign === "\t") return 8;
  if (sign.endsWith("m") && sign.length > 1) return 0;
  return (sign.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
}
