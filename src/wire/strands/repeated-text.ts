/**
 * Text that came in pieces, and how much of it has come again by another carrier. The pieces stay as they came: one
 * string that grows at its end while it is compared at its start would be copied for each comparison.
 */
export interface RepeatedText {
  readonly pieces: string[];
  /** The first piece that has not come again as a whole, and how much of it has. */
  piece: number;
  at: number;
}

export function noRepeatedText(): RepeatedText {
  return { pieces: [], piece: 0, at: 0 };
}

/** Whether a text goes on where the repetition stands; if so, the repetition stands behind it. */
export function goesOnRepeating(repeated: RepeatedText, text: string): boolean {
  const { pieces } = repeated;
  let { piece, at } = repeated;
  for (let matched = 0; matched < text.length;) {
    const said = pieces[piece];
    if (said === undefined) return false;
    const length = Math.min(said.length - at, text.length - matched);
    if (!said.startsWith(text.slice(matched, matched + length), at)) return false;
    matched += length;
    at += length;
    if (at < said.length) continue;
    piece += 1;
    at = 0;
  }
  repeated.piece = piece;
  repeated.at = at;
  return true;
}
