import type { Envelope } from "../../../domain/events/envelope.ts";

/** An event, and how much of the file it takes. */
export interface SizedEvent {
  readonly envelope: Envelope;
  readonly size: number;
}

/**
 * The first of some events, as many as a reader gets at once: bounded in number and in size, and one however large it is.
 * What a reader that stopped has not taken is held in memory, so this is also what it costs.
 */
export function takeBatch<Event extends SizedEvent>(events: Iterable<Event>): Event[] {
  const batch: Event[] = [];
  let bytes = 0;
  for (const event of events) {
    batch.push(event);
    bytes += event.size;
    if (batch.length >= MAX_BATCH_EVENTS || bytes >= MAX_BATCH_BYTES) break;
  }
  return batch;
}

/** How much this is of what may be read at once. To look into the file counts, too. */
export function measureShare(batch: readonly SizedEvent[]): number {
  return Math.max(
    MIN_SHARE,
    batch.length / MAX_BATCH_EVENTS,
    measureBatch(batch) / MAX_BATCH_BYTES,
  );
}

/** Whether nobody notices when many readers get it in the same turn of the loop. */
export function isSmallBatch(batch: readonly SizedEvent[]): boolean {
  return measureBatch(batch) <= SMALL_BATCH_BYTES;
}

export function listEnvelopes(batch: readonly SizedEvent[]): readonly Envelope[] {
  return batch.map(({ envelope }) => envelope);
}

function measureBatch(batch: readonly SizedEvent[]): number {
  return batch.reduce((sum, { size }) => sum + size, 0);
}

const MIN_SHARE = 1 / 64;
const SMALL_BATCH_BYTES = 16 * 1024;
export const MAX_BATCH_EVENTS = 512;
/** Some milliseconds of reading and writing out, in which nobody else has the loop. */
export const MAX_BATCH_BYTES = 256 * 1024;
