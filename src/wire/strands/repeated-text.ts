/** What brings text. Apps pass on several of these side by side. */
export type Carrier = "event" | "data" | "text";

/**
 * The text of a message in the pieces it came in, and how far each carrier has said it. The pieces stay as they came:
 * one string that grows at its end while it is compared at its start would be copied for each comparison.
 */
export interface SaidText {
  readonly pieces: string[];
  readonly places: Map<Carrier, Place>;
}

/** The first piece that a carrier has not said as a whole, and how much of it it has. */
interface Place {
  readonly piece: number;
  readonly at: number;
}

const START: Place = { piece: 0, at: 0 };

export function nothingSaid(): SaidText {
  return { pieces: [], places: new Map() };
}

/** The part of a carrier's text that no other has said before: all of it where it does not go on as the others did. */
export function newPart({ pieces, places }: SaidText, carrier: Carrier, text: string): string {
  let { piece, at } = places.get(carrier) ?? START;
  let matched = 0;
  while (matched < text.length) {
    const said = pieces[piece];
    if (said === undefined) break;
    const length = Math.min(said.length - at, text.length - matched);
    if (!said.startsWith(text.slice(matched, matched + length), at)) return text;
    matched += length;
    at += length;
    if (at < said.length) continue;
    piece += 1;
    at = 0;
  }
  if (matched === text.length) places.set(carrier, { piece, at });
  return text.slice(matched);
}

/** A carrier that said something new has said all there is. */
export function saidAll({ pieces, places }: SaidText, carrier: Carrier): void {
  places.set(carrier, { piece: pieces.length, at: 0 });
}
