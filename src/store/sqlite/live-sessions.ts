import type { Head, SessionRecord } from "../store.ts";
import { batchOf, type SizedEvent } from "./batch-of.ts";
import { EarlierEvents } from "./earlier-events.ts";
import type { EncodedEvent } from "./encoded-entry.ts";
import type { NewSessions } from "./new-sessions.ts";

interface Live {
  /** What may be seen; the file may be further. */
  head: Head;
  /** Entries that are in the file and not yet to be seen. */
  unseen: number;
  /** What may be seen of the session's row, while there are such. */
  record: SessionRecord | undefined;
  /** The commit that has to be on the disk before anything more may be seen. */
  waitsFor: number;
  readers: number;
  readonly recent: RecentEvents;
}

/** An entry that may not be seen yet. It belongs to one life of its session: a deleted one takes it along. */
export interface Held {
  /** It may be seen from now on, and with it what it changes about the session's row. */
  end(events: readonly EncodedEvent[], change: (record: SessionRecord) => SessionRecord): void;
}

export interface Holding {
  readonly head: Head;
  /** The row without what may not be seen. */
  readonly record: SessionRecord | undefined;
  /** When this is on the disk it may be seen. */
  readonly commit: number;
}

/** The sessions about which more is known than the file says: those with readers, and those that wait for the disk. */
export class LiveSessions {
  readonly #sessions = new Map<string, Live>();
  /** Of whatever session that somebody reads. */
  readonly earlier = new EarlierEvents();
  readonly #fresh: NewSessions;

  constructor(fresh: NewSessions) {
    this.#fresh = fresh;
  }

  head(sessionId: string): Head | undefined {
    return this.#sessions.get(sessionId)?.head ?? this.#fresh.head(sessionId);
  }

  waitsFor(sessionId: string): number {
    return this.#sessions.get(sessionId)?.waitsFor ?? 0;
  }

  hasUnseen(sessionId: string): boolean {
    return (this.#sessions.get(sessionId)?.unseen ?? 0) > 0;
  }

  hasReaders(sessionId: string): boolean {
    return (this.#sessions.get(sessionId)?.readers ?? 0) > 0;
  }

  /** The session's row as it may be seen, when that is less than the file has. */
  record(sessionId: string): SessionRecord | undefined {
    return this.#sessions.get(sessionId)?.record;
  }

  /** Events after a place without a look at the file; undefined when they are not at hand. */
  recent(sessionId: string, after: number): readonly SizedEvent[] | undefined {
    return this.#sessions.get(sessionId)?.recent.after(after);
  }

  join(sessionId: string, head: Head): () => void {
    const live = this.#keep(sessionId, head);
    live.readers += 1;
    return () => {
      live.readers -= 1;
      this.#leave(sessionId, live);
    };
  }

  /** An entry was written that may not be seen yet. */
  hold(sessionId: string, { head, record, commit }: Holding): Held {
    const live = this.#keep(sessionId, head);
    if (live.unseen === 0) live.record = record;
    live.unseen += 1;
    live.waitsFor = commit;
    return {
      end: (events, change) => {
        live.unseen -= 1;
        live.record =
          live.unseen > 0 && live.record !== undefined ? change(live.record) : undefined;
        // Whoever waited for it mostly reads it next: for that it is kept at hand a moment.
        live.readers += 1;
        show(live, events);
        setImmediate(() => {
          live.readers -= 1;
          this.#leave(sessionId, live);
        });
      },
    };
  }

  /** These may be seen from now on. */
  show(sessionId: string, events: readonly EncodedEvent[]): void {
    const live = this.#sessions.get(sessionId);
    if (live !== undefined) show(live, events);
  }

  /** The session changed in another way than by growing. */
  reset(sessionId: string, head: Head | undefined): void {
    this.earlier.clear();
    const live = this.#sessions.get(sessionId);
    if (live === undefined) return;
    if (head === undefined) this.#sessions.delete(sessionId);
    else live.head = head;
    live.recent.clear();
  }

  #keep(sessionId: string, head: Head): Live {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const recent = new RecentEvents();
    const live = { head, unseen: 0, record: undefined, waitsFor: 0, readers: 0, recent };
    this.#sessions.set(sessionId, live);
    return live;
  }

  #leave(sessionId: string, live: Live): void {
    if (live.readers === 0) live.recent.clear();
    const isIdle = live.readers === 0 && live.unseen === 0;
    if (isIdle && this.#sessions.get(sessionId) === live) this.#sessions.delete(sessionId);
    if (this.#sessions.size === 0) this.earlier.clear();
  }
}

function show(live: Live, events: readonly EncodedEvent[]): void {
  live.head = { ...live.head, seq: live.head.seq + events.length };
  if (live.readers > 0) live.recent.add(events);
}

/** The last events of a session that somebody reads, so that each of many readers need not read the file. */
class RecentEvents {
  #events: EncodedEvent[] = [];
  #bytes = 0;
  /** What was last given: most readers are at the same place. */
  #given: { readonly after: number; readonly batch: readonly SizedEvent[] } | undefined;

  add(events: readonly EncodedEvent[]): void {
    this.#given = undefined;
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += event.size;
    }
    // Half is dropped at once, so that not every event moves all others.
    if (this.#events.length <= MOST_EVENTS && this.#bytes <= MOST_BYTES) return;
    let dropped = 0;
    while (this.#events.length - dropped > MOST_EVENTS / 2 || this.#bytes > MOST_BYTES / 2) {
      const first = this.#events[dropped];
      if (first === undefined) break;
      this.#bytes -= first.size;
      dropped += 1;
    }
    this.#events.splice(0, dropped);
  }

  after(seq: number): readonly SizedEvent[] | undefined {
    if (this.#given?.after === seq) return this.#given.batch;
    const first = this.#events[0]?.envelope.seq;
    if (first === undefined || seq < first - 1) return undefined;
    const batch = batchOf(this.#events.slice(seq - first + 1));
    this.#given = { after: seq, batch };
    return batch;
  }

  clear(): void {
    this.#given = undefined;
    this.#events = [];
    this.#bytes = 0;
  }
}

const MOST_EVENTS = 512;
const MOST_BYTES = 1_000_000;
