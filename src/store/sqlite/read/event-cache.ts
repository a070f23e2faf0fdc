import { BoundedCache } from "../../../data/bounded-cache.ts";
import type { SizedEvent } from "./event-batch.ts";

/** Recently read events. If many readers catch up at the same time, only the first reads the file. */
export class EventCache {
  readonly #events = new BoundedCache<SizedEvent>(MAX_CACHE_BYTES);

  add(incarnation: string, events: readonly SizedEvent[]): void {
    for (const event of events) {
      const { seq } = event.envelope;
      this.#events.set(createEventKey(incarnation, seq), event, event.size + EVENT_OVERHEAD_BYTES);
    }
  }

  /** The cached events after `seq` without a gap. Empty if the next event is not cached. */
  *readAfter(incarnation: string, seq: number): Generator<SizedEvent> {
    for (let next = seq + 1; ; next++) {
      const event = this.#events.get(createEventKey(incarnation, next));
      if (event === undefined) return;
      yield event;
    }
  }

  clear(): void {
    this.#events.clear();
  }
}

function createEventKey(incarnation: string, seq: number): string {
  return `${incarnation}.${seq}`;
}

const MAX_CACHE_BYTES = 2_000_000;
/** Approximate memory of an event in addition to its text. */
const EVENT_OVERHEAD_BYTES = 500;
