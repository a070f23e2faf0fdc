/** What brings text. Apps pass on several of these side by side. */
export type Carrier = "event" | "data" | "text";

/**
 * The text of a message in the pieces it came in, and how far each carrier has said it. The pieces stay as they came:
 * one string that grows at its end while it is compared at its start would be copied for each comparison.
 */
export interface DeliveredText {
  readonly pieces: string[];
  readonly positions: Map<Carrier, TextPosition>;
}

/** The first piece that a carrier has not said as a whole, and how much of it it has. */
interface TextPosition {
  readonly piece: number;
  readonly offset: number;
}

const START: TextPosition = { piece: 0, offset: 0 };

export function createDeliveredText(): DeliveredText {
  return { pieces: [], positions: new Map() };
}

/** The part of a carrier's text that no other has said before: all of it where it does not go on as the others did. */
export function findNewText(
  { pieces, positions }: DeliveredText,
  carrier: Carrier,
  text: string,
): string {
  let { piece, offset } = positions.get(carrier) ?? START;
  let matchedLength = 0;
  while (matchedLength < text.length) {
    const deliveredPiece = pieces[piece];
    if (deliveredPiece === undefined) break;
    const length = Math.min(deliveredPiece.length - offset, text.length - matchedLength);
    if (!deliveredPiece.startsWith(text.slice(matchedLength, matchedLength + length), offset))
      return text;
    matchedLength += length;
    offset += length;
    if (offset < deliveredPiece.length) continue;
    piece += 1;
    offset = 0;
  }
  if (matchedLength === text.length) positions.set(carrier, { piece, offset });
  return text.slice(matchedLength);
}

/** A carrier that said something new has said all there is. */
export function markDelivered({ pieces, positions }: DeliveredText, carrier: Carrier): void {
  positions.set(carrier, { piece: pieces.length, offset: 0 });
}
