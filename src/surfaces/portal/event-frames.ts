import type { Envelope } from "../../domain/events/envelope.ts";
import { toJsonText } from "../../data/json.ts";
import { BoundedCache } from "../../data/bounded-cache.ts";
import { cursorText } from "./cursor-text.ts";

/** Some events of one log, in their order. */
export interface EventRun {
  readonly incarnation: string;
  readonly events: readonly Envelope[];
}

/** The most bytes that are sent off at once: of what a reader has not taken, the server holds no more beside what Node does. */
const PIECE_BYTES = 64 * 1024;
const KEPT_BYTES = 2_000_000;
/** Roughly what a frame takes in memory beside its bytes. */
const BESIDE_BYTES = 300;

/** Events as server-sent events, each written out once for all who read it at about the same time. */
export class EventFrames {
  readonly #frames = new BoundedCache<Uint8Array>(KEPT_BYTES);
  /** Those who follow a session at the same pace are given the same event one after the other. */
  #last: { readonly envelope: Envelope; readonly pieces: readonly Uint8Array[] } | undefined;

  /**
   * The frames of some events in pieces: short ones together, a long one in several. The id of a frame is the cursor, its
   * data the envelope. A reader that is told nothing of internal events resumes from before them, and again sees none.
   */
  pieces(run: EventRun): Iterable<Uint8Array> {
    const [only] = run.events;
    if (only === undefined || run.events.length > 1) return this.#pieces(run);
    if (this.#last?.envelope === only) return this.#last.pieces;
    const pieces = [...this.#pieces(run)];
    this.#last = { envelope: only, pieces };
    return pieces;
  }

  *#pieces({ incarnation, events }: EventRun): Generator<Uint8Array> {
    let gathered: Uint8Array[] = [];
    let length = 0;
    for (const envelope of events) {
      if (envelope.visibility === "internal") continue;
      const frame = this.#frameOf(incarnation, envelope);
      if (length > 0 && length + frame.length > PIECE_BYTES) {
        yield* cut(joined(gathered));
        gathered = [];
        length = 0;
      }
      gathered.push(frame);
      length += frame.length;
    }
    yield* cut(joined(gathered));
  }

  #frameOf(incarnation: string, envelope: Envelope): Uint8Array {
    const id = cursorText({ incarnation, seq: envelope.seq });
    const known = this.#frames.get(id);
    if (known !== undefined) return known;
    const frame = Buffer.from(`id: ${id}\ndata: ${toJsonText(envelope)}\n\n`);
    this.#frames.set(id, frame, frame.length + BESIDE_BYTES);
    return frame;
  }
}

/** A frame that stands alone is not copied: it is the same bytes for all. */
function joined(frames: readonly Uint8Array[]): Uint8Array {
  const [only, ...more] = frames;
  return only !== undefined && more.length === 0 ? only : Buffer.concat(frames);
}

function* cut(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
