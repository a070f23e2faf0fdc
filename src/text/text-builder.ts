/**
 * A copy that holds on to nothing else. V8 makes a slice as a view of the text it was cut from, which then lives as
 * long as the slice does, and a sum as a tree of its pieces.
 */
export function copyString(text: string): string {
  return ` ${text}`.slice(1);
}

/** A text that comes in pieces. */
export interface TextBuilder {
  text: string;
  /** Pieces that came since the text was last one. */
  pieceCount: number;
}

export function createTextBuilder(): TextBuilder {
  return { text: "", pieceCount: 0 };
}

/**
 * Adds a piece. A loose one costs 32 bytes however short it is, so the text is made one again when they are many for
 * its length: that keeps the cost to a few bytes for a character, and the copying to a fixed number of times its length.
 */
export function appendText(builder: TextBuilder, piece: string): void {
  builder.text += piece;
  builder.pieceCount += 1;
  if (
    builder.pieceCount < MIN_PIECES ||
    builder.pieceCount * CHARACTERS_PER_PIECE < builder.text.length
  )
    return;
  builder.text = copyString(builder.text);
  builder.pieceCount = 0;
}

const MIN_PIECES = 64;
const CHARACTERS_PER_PIECE = 32;
