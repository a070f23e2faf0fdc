/** The sources of text in a stream. Apps forward several of them in parallel. */
export type Carrier = "event" | "data" | "text";

/**
 * The text of a message in the received pieces, and the position of each carrier. The pieces stay separate: a single
 * string which grows at the end and is compared from the start would be copied for each comparison.
 */
export interface DeliveredText {
  readonly pieces: string[];
  readonly positions: Map<Carrier, TextPosition>;
}

/** The first piece which a carrier has not fully repeated, and the length of the repeated part. */
interface TextPosition {
  readonly piece: number;
  readonly offset: number;
}

const START: TextPosition = { piece: 0, offset: 0 };

export function createDeliveredText(): DeliveredText {
  return { pieces: [], positions: new Map() };
}

/**
 * Returns the part of a carrier's text not yet delivered by another carrier. Returns the whole text if it does not
 * continue the delivered text at the carrier's position.
 */
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

/** Moves a carrier to the end of the delivered text, after the carrier delivered new text. */
export function markDelivered({ pieces, positions }: DeliveredText, carrier: Carrier): void {
  positions.set(carrier, { piece: pieces.length, offset: 0 });
}
