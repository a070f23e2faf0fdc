import { BoundedCache } from "../../../data/bounded-cache.ts";
import type { SizedEvent } from "./event-batch.ts";

/** What was read from the file a moment ago: of many readers that catch up together, only the first reads it. */
export class EventCache {
  readonly #events = new BoundedCache<SizedEvent>(MAX_CACHE_BYTES);

  add(incarnation: string, events: readonly SizedEvent[]): void {
    for (const event of events) {
      const { seq } = event.envelope;
      this.#events.set(createEventKey(incarnation, seq), event, event.size + EVENT_OVERHEAD_BYTES);
    }
  }

  /** Those that follow a place without a gap; none when the next one is not at hand. */
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
/** Roughly what an event takes in memory beside its text. */
const EVENT_OVERHEAD_BYTES = 500;
