import type { Envelope } from "../../../domain/events/envelope.ts";

/** An event with the size of its stored JSON, in bytes. */
export interface SizedEvent {
  readonly envelope: Envelope;
  readonly size: number;
}

/**
 * The first events of an iterable, limited in number and in bytes. A single event is taken however large it is. A
 * paused reader holds its last batch in memory, so the limits are also the memory cost of a slow reader.
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

/** The share of one tick's read limit used by a batch. At least 1/64, because an empty read costs time too. */
export function measureShare(batch: readonly SizedEvent[]): number {
  return Math.max(
    MIN_SHARE,
    batch.length / MAX_BATCH_EVENTS,
    measureBatch(batch) / MAX_BATCH_BYTES,
  );
}

/** True if a batch is small enough to be delivered to many readers in one tick without a noticeable delay. */
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
/** A few milliseconds of reading and writing. The event loop is blocked for this time. */
export const MAX_BATCH_BYTES = 256 * 1024;
