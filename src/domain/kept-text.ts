/**
 * A copy that holds on to nothing else. V8 makes a slice as a view of the text it was cut from, which then lives as
 * long as the slice does, and a sum as a tree of its pieces.
 */
export function detached(text: string): string {
  return ` ${text}`.slice(1);
}

/** A text that comes in pieces. */
export interface GatheredText {
  text: string;
  /** Pieces that came since the text was last one. */
  loose: number;
}

export function noText(): GatheredText {
  return { text: "", loose: 0 };
}

/**
 * Adds a piece. A loose one costs 32 bytes however short it is, so the text is made one again when they are many for
 * its length: that keeps the cost to a few bytes for a character, and the copying to a fixed number of times its length.
 */
export function gather(into: GatheredText, piece: string): void {
  into.text += piece;
  into.loose += 1;
  if (into.loose < FEWEST_LOOSE || into.loose * CHARACTERS_PER_LOOSE < into.text.length) return;
  into.text = detached(into.text);
  into.loose = 0;
}

const FEWEST_LOOSE = 64;
const CHARACTERS_PER_LOOSE = 32;
