import type { Envelope } from "../../domain/events/envelope.ts";
import { toJsonText } from "../../data/json.ts";
import { BoundedCache } from "../../data/bounded-cache.ts";
import { formatCursor } from "../../wire/live/cursor-text.ts";
import type { EventRun } from "../../wire/live/encode-live-frame.ts";

/** Maximum bytes per write. Limits the unread data per reader, in addition to Node's own buffer. */
const PIECE_BYTES = 64 * 1024;
const MAX_CACHED_BYTES = 2_000_000;
/** Estimated memory of a cached frame in addition to its bytes. */
const FRAME_OVERHEAD_BYTES = 300;

/** Encodes events as server-sent events, each once for all readers at about the same position. */
export class EventFrames {
  readonly #frames = new BoundedCache<Uint8Array>(MAX_CACHED_BYTES);
  /** The last single event. Readers at the same position request the same event one after another. */
  #last: { readonly envelope: Envelope; readonly pieces: readonly Uint8Array[] } | undefined;

  /**
   * Encodes events in chunks: short frames together, a long frame in several chunks. A frame's id is the cursor, its
   * data the envelope. Internal events are omitted, also for a reader that resumes at an earlier cursor.
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
      const frame = this.#encodeFrame(incarnation, envelope);
      if (length > 0 && length + frame.length > PIECE_BYTES) {
        yield* splitBytes(concatFrames(gathered));
        gathered = [];
        length = 0;
      }
      gathered.push(frame);
      length += frame.length;
    }
    yield* splitBytes(concatFrames(gathered));
  }

  #encodeFrame(incarnation: string, envelope: Envelope): Uint8Array {
    const id = formatCursor({ incarnation, seq: envelope.seq });
    const known = this.#frames.get(id);
    if (known !== undefined) return known;
    const frame = Buffer.from(`id: ${id}\ndata: ${toJsonText(envelope)}\n\n`);
    this.#frames.set(id, frame, frame.length + FRAME_OVERHEAD_BYTES);
    return frame;
  }
}

/** A single frame is not copied, so all readers share its bytes. */
function concatFrames(frames: readonly Uint8Array[]): Uint8Array {
  const [only, ...more] = frames;
  return only !== undefined && more.length === 0 ? only : Buffer.concat(frames);
}

function* splitBytes(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
