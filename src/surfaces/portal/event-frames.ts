import type { Envelope } from "../../domain/envelope.ts";
import { jsonText } from "../../domain/json.ts";
import { cursorText } from "./cursor-text.ts";

/** Some events of one log, in their order. */
export interface EventRun {
  readonly incarnation: string;
  readonly events: readonly Envelope[];
}

/** From this many characters on, a piece is sent off: of a long log, a reader that stops has little more waiting. */
const PIECE_LENGTH = 64 * 1024;

/**
 * Events as server-sent events in pieces of some size: the id is the cursor, the data the envelope. A reader that is
 * told nothing of internal events resumes from before them, and again sees none.
 */
export function* eventFrames({ incarnation, events }: EventRun): Generator<Uint8Array> {
  let piece = "";
  for (const envelope of events) {
    if (envelope.visibility === "internal") continue;
    const id = cursorText({ incarnation, seq: envelope.seq });
    piece += `id: ${id}\ndata: ${jsonText(envelope)}\n\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield Buffer.from(piece);
    piece = "";
  }
  if (piece !== "") yield Buffer.from(piece);
}
