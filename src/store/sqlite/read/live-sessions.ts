import type { LogHead } from "../../log-store.ts";
import type { SessionRecord } from "../../session-index.ts";
import { takeBatch, type SizedEvent } from "./event-batch.ts";
import { EventCache } from "./event-cache.ts";
import type { EncodedEvent } from "../../encode-entry.ts";
import type { UnwrittenSessions } from "../write/unwritten-sessions.ts";

interface LiveSession {
  /** What may be seen; the file may be further. */
  head: LogHead;
  /** Entries that are in the file and not yet to be seen. */
  unsyncedCount: number;
  /** What may be seen of the session's row, while there are such. */
  record: SessionRecord | undefined;
  /** The commit that has to be on the disk before anything more may be seen. */
  requiredCommit: number;
  readers: number;
  readonly recent: RecentEvents;
}

/** An entry that may not be seen yet. It belongs to one life of its session: a deleted one takes it along. */
export interface UnsyncedEntry {
  /** It may be seen from now on, and with it what it changes about the session's row. */
  publish(events: readonly EncodedEvent[], change: (record: SessionRecord) => SessionRecord): void;
}

export interface UnsyncedEntryOptions {
  readonly head: LogHead;
  /** The row without what may not be seen. */
  readonly record: SessionRecord | undefined;
  /** When this is on the disk it may be seen. */
  readonly commit: number;
}

/** The sessions about which more is known than the file says: those with readers, and those that wait for the disk. */
export class LiveSessions {
  readonly #sessions = new Map<string, LiveSession>();
  /** Of whatever session that somebody reads. */
  readonly eventCache = new EventCache();
  readonly #fresh: UnwrittenSessions;

  constructor(fresh: UnwrittenSessions) {
    this.#fresh = fresh;
  }

  readHead(sessionId: string): LogHead | undefined {
    return this.#sessions.get(sessionId)?.head ?? this.#fresh.readHead(sessionId);
  }

  readRequiredCommit(sessionId: string): number {
    return this.#sessions.get(sessionId)?.requiredCommit ?? 0;
  }

  hasUnsynced(sessionId: string): boolean {
    return (this.#sessions.get(sessionId)?.unsyncedCount ?? 0) > 0;
  }

  hasReaders(sessionId: string): boolean {
    return (this.#sessions.get(sessionId)?.readers ?? 0) > 0;
  }

  /** The session's row as it may be seen, when that is less than the file has. */
  readRecord(sessionId: string): SessionRecord | undefined {
    return this.#sessions.get(sessionId)?.record;
  }

  /** Events after a place without a look at the file; undefined when they are not at hand. */
  readRecent(sessionId: string, after: number): readonly SizedEvent[] | undefined {
    return this.#sessions.get(sessionId)?.recent.readAfter(after);
  }

  addReader(sessionId: string, head: LogHead): () => void {
    const live = this.#keep(sessionId, head);
    live.readers += 1;
    return () => {
      live.readers -= 1;
      this.#leave(sessionId, live);
    };
  }

  /** An entry was written that may not be seen yet. */
  addUnsynced(sessionId: string, { head, record, commit }: UnsyncedEntryOptions): UnsyncedEntry {
    const live = this.#keep(sessionId, head);
    if (live.unsyncedCount === 0) live.record = record;
    live.unsyncedCount += 1;
    live.requiredCommit = commit;
    return {
      publish: (events, change) => {
        live.unsyncedCount -= 1;
        live.record =
          live.unsyncedCount > 0 && live.record !== undefined ? change(live.record) : undefined;
        // Whoever waited for it mostly reads it next: for that it is kept at hand a moment.
        live.readers += 1;
        publishEvents(live, events);
        setImmediate(() => {
          live.readers -= 1;
          this.#leave(sessionId, live);
        });
      },
    };
  }

  /** These may be seen from now on. */
  publish(sessionId: string, events: readonly EncodedEvent[]): void {
    const live = this.#sessions.get(sessionId);
    if (live !== undefined) publishEvents(live, events);
  }

  /** The session changed in another way than by growing. */
  reset(sessionId: string, head: LogHead | undefined): void {
    this.eventCache.clear();
    const live = this.#sessions.get(sessionId);
    if (live === undefined) return;
    if (head === undefined) this.#sessions.delete(sessionId);
    else live.head = head;
    live.recent.clear();
  }

  #keep(sessionId: string, head: LogHead): LiveSession {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const recent = new RecentEvents();
    const live = {
      head,
      unsyncedCount: 0,
      record: undefined,
      requiredCommit: 0,
      readers: 0,
      recent,
    };
    this.#sessions.set(sessionId, live);
    return live;
  }

  #leave(sessionId: string, live: LiveSession): void {
    if (live.readers === 0) live.recent.clear();
    const isIdle = live.readers === 0 && live.unsyncedCount === 0;
    if (isIdle && this.#sessions.get(sessionId) === live) this.#sessions.delete(sessionId);
    if (this.#sessions.size === 0) this.eventCache.clear();
  }
}

function publishEvents(live: LiveSession, events: readonly EncodedEvent[]): void {
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
    if (this.#events.length <= MAX_RECENT_EVENTS && this.#bytes <= MAX_RECENT_BYTES) return;
    let dropped = 0;
    while (
      this.#events.length - dropped > MAX_RECENT_EVENTS / 2 ||
      this.#bytes > MAX_RECENT_BYTES / 2
    ) {
      const first = this.#events[dropped];
      if (first === undefined) break;
      this.#bytes -= first.size;
      dropped += 1;
    }
    this.#events.splice(0, dropped);
  }

  readAfter(seq: number): readonly SizedEvent[] | undefined {
    if (this.#given?.after === seq) return this.#given.batch;
    const first = this.#events[0]?.envelope.seq;
    if (first === undefined || seq < first - 1) return undefined;
    const batch = takeBatch(this.#events.slice(seq - first + 1));
    this.#given = { after: seq, batch };
    return batch;
  }

  clear(): void {
    this.#given = undefined;
    this.#events = [];
    this.#bytes = 0;
  }
}

const MAX_RECENT_EVENTS = 512;
const MAX_RECENT_BYTES = 1_000_000;
