import type { Envelope } from "../../domain/envelope.ts";

/** An event, and how much of the file it takes. */
export interface SizedEvent {
  readonly envelope: Envelope;
  readonly size: number;
}

/**
 * The first of some events, as many as a reader gets at once: bounded in number and in size, and one however large it is.
 * What a reader that stopped has not taken is held in memory, so this is also what it costs.
 */
export function batchOf<Event extends SizedEvent>(events: Iterable<Event>): Event[] {
  const batch: Event[] = [];
  let bytes = 0;
  for (const event of events) {
    batch.push(event);
    bytes += event.size;
    if (batch.length >= MOST_EVENTS || bytes >= MOST_BYTES) break;
  }
  return batch;
}

/** How much this is of what may be read at once. To look into the file counts, too. */
export function partOf(batch: readonly SizedEvent[]): number {
  return Math.max(SMALLEST_PART, batch.length / MOST_EVENTS, sizeOf(batch) / MOST_BYTES);
}

/** Whether nobody notices when many readers get it in the same turn of the loop. */
export function isSmall(batch: readonly SizedEvent[]): boolean {
  return sizeOf(batch) <= SMALL_BYTES;
}

export function envelopesOf(batch: readonly SizedEvent[]): readonly Envelope[] {
  return batch.map(({ envelope }) => envelope);
}

function sizeOf(batch: readonly SizedEvent[]): number {
  return batch.reduce((sum, { size }) => sum + size, 0);
}

const SMALLEST_PART = 1 / 64;
const SMALL_BYTES = 16 * 1024;
export const MOST_EVENTS = 512;
/** Some milliseconds of reading and writing out, in which nobody else has the loop. */
export const MOST_BYTES = 256 * 1024;
