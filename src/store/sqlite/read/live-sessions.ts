import type { LogHead } from "../../log-store.ts";
import type { SessionRecord } from "../../session-index.ts";
import { takeBatch, type SizedEvent } from "./event-batch.ts";
import { EventCache } from "./event-cache.ts";
import type { EncodedEvent } from "../../encode-entry.ts";
import type { UnwrittenSessions } from "../write/unwritten-sessions.ts";

interface LiveSession {
  /** The visible end of the log. The file may be ahead. */
  head: LogHead;
  /** The number of entries appended but not yet synced, which are invisible to readers. */
  unsyncedCount: number;
  /** The visible state of the session's row while entries wait for their sync. Undefined otherwise. */
  record: SessionRecord | undefined;
  /** The commit that must be synced before later entries become visible. */
  requiredCommit: number;
  readers: number;
  readonly recent: RecentEvents;
}

/**
 * An entry waiting for its sync. The entry belongs to one incarnation of its session: if the session is deleted,
 * publishing the entry has no visible effect.
 */
export interface UnsyncedEntry {
  /** Makes the events visible, together with the changes to the session's row. */
  publish(events: readonly EncodedEvent[], change: (record: SessionRecord) => SessionRecord): void;
}

export interface UnsyncedEntryOptions {
  readonly head: LogHead;
  /** The session's row before this entry. */
  readonly record: SessionRecord | undefined;
  /** The entry becomes visible when this commit is synced. */
  readonly commit: number;
}

/** In-memory state of sessions with readers or unsynced entries. All other sessions are read from the file alone. */
export class LiveSessions {
  readonly #sessions = new Map<string, LiveSession>();
  /** Shared by all sessions with readers. */
  readonly eventCache = new EventCache();
  readonly #unwritten: UnwrittenSessions;

  constructor(unwritten: UnwrittenSessions) {
    this.#unwritten = unwritten;
  }

  readHead(sessionId: string): LogHead | undefined {
    return this.#sessions.get(sessionId)?.head ?? this.#unwritten.readHead(sessionId);
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

  /** The visible row of a session while the file is ahead. Undefined if the row in the file is visible. */
  readRecord(sessionId: string): SessionRecord | undefined {
    return this.#sessions.get(sessionId)?.record;
  }

  /** Events after `after` without a file read. Undefined if the events are not in memory. */
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

  /** Registers an entry that is in the file but not yet synced. */
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
        // A caller waiting for the entry usually reads it next, so the session counts as read until the next tick.
        live.readers += 1;
        publishEvents(live, events);
        setImmediate(() => {
          live.readers -= 1;
          this.#leave(sessionId, live);
        });
      },
    };
  }

  /** Makes events visible at once. */
  publish(sessionId: string, events: readonly EncodedEvent[]): void {
    const live = this.#sessions.get(sessionId);
    if (live !== undefined) publishEvents(live, events);
  }

  /**
   * Drops all cached state of a session after a deletion or a retention run. `head` is undefined if the session was
   * deleted.
   */
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

/** The last events of a session with readers, so many readers do not each read the file. */
class RecentEvents {
  #events: EncodedEvent[] = [];
  #bytes = 0;
  /** The last returned batch. Most readers are at the same position and share it. */
  #lastBatch: { readonly after: number; readonly batch: readonly SizedEvent[] } | undefined;

  add(events: readonly EncodedEvent[]): void {
    this.#lastBatch = undefined;
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += event.size;
    }
    // Half of the events are dropped at once: dropping one at a time would move the whole array for each append.
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
    if (this.#lastBatch?.after === seq) return this.#lastBatch.batch;
    const first = this.#events[0]?.envelope.seq;
    if (first === undefined || seq < first - 1) return undefined;
    const batch = takeBatch(this.#events.slice(seq - first + 1));
    this.#lastBatch = { after: seq, batch };
    return batch;
  }

  clear(): void {
    this.#lastBatch = undefined;
    this.#events = [];
    this.#bytes = 0;
  }
}

const MAX_RECENT_EVENTS = 512;
const MAX_RECENT_BYTES = 1_000_000;
