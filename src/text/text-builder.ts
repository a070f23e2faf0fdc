/**
 * Copies a string into flat memory. V8 represents a slice as a view that keeps the whole source string
 * alive, and a concatenation as a tree of its pieces.
 */
export function copyString(text: string): string {
  return ` ${text}`.slice(1);
}

/** A string built from many pieces. */
export interface TextBuilder {
  text: string;
  /** Pieces appended since the text was last flattened. */
  pieceCount: number;
}

export function createTextBuilder(): TextBuilder {
  return { text: "", pieceCount: 0 };
}

/**
 * Appends a piece. An appended piece costs 32 bytes however short it is, so the text is flattened when there are many
 * pieces for its length. This limits the cost to a few bytes per character, and the copying to a constant multiple of
 * the length.
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
