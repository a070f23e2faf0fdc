import { NewestKept } from "../../domain/newest-kept.ts";
import type { SizedEvent } from "./batch-of.ts";

/** What was read from the file a moment ago: of many readers that catch up together, only the first reads it. */
export class EarlierEvents {
  readonly #events = new NewestKept<SizedEvent>(MOST_BYTES);

  add(incarnation: string, events: readonly SizedEvent[]): void {
    for (const event of events) {
      const { seq } = event.envelope;
      this.#events.set(nameOf(incarnation, seq), event, event.size + BESIDE_BYTES);
    }
  }

  /** Those that follow a place without a gap; none when the next one is not at hand. */
  *after(incarnation: string, seq: number): Generator<SizedEvent> {
    for (let next = seq + 1; ; next++) {
      const event = this.#events.get(nameOf(incarnation, next));
      if (event === undefined) return;
      yield event;
    }
  }

  clear(): void {
    this.#events.clear();
  }
}

function nameOf(incarnation: string, seq: number): string {
  return `${incarnation}.${seq}`;
}

const MOST_BYTES = 2_000_000;
/** Roughly what an event takes in memory beside its text. */
const BESIDE_BYTES = 500;
