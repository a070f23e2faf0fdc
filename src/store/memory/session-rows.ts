import type { Draft, Envelope } from "../../domain/events/envelope.ts";
import type { JsonValue } from "../../data/json.ts";
import { randomString } from "../../platform/random.ts";
import { findEndedDeltas } from "../ended-deltas.ts";
import { createEnvelope, readSearchableText } from "../encode-entry.ts";
import type { LogEntry, LogHead } from "../log-store.ts";
import type { SessionFields, SessionPage, SessionQuery, SessionRecord } from "../session-index.ts";
import { decodePage, encodePage, splitSearchWords } from "../session-query.ts";
import type { Snapshot } from "../snapshot-store.ts";

/** The current or last holder of a session's lease. */
interface LeaseHolder {
  readonly owner: string;
  readonly epoch: number;
  readonly until: number;
  readonly isReleased: boolean;
}

/** One session with its events, replies, blobs and snapshot. */
export class MemorySession {
  readonly incarnation = randomString(22);
  readonly replies = new Map<string, JsonValue>();
  readonly blobs = new Map<string, Uint8Array>();
  holder: LeaseHolder | undefined;
  snapshot: Snapshot | undefined;
  wakeAt: number | null = null;
  readers = 0;
  readonly #sessionId: string;
  readonly #createdAt: number;
  #events: Envelope[] = [];
  #fields: SessionFields = {};
  #seq = 0;
  #firstSeq = 1;
  #bytes = 0;

  constructor(sessionId: string, createdAt: number) {
    this.#sessionId = sessionId;
    this.#createdAt = createdAt;
  }

  get head(): LogHead {
    return { incarnation: this.incarnation, seq: this.#seq, firstSeq: this.#firstSeq };
  }

  get updatedAt(): number {
    return this.#events.at(-1)?.at ?? this.#createdAt;
  }

  /** The number of stored events. Dropped deltas do not count. */
  get length(): number {
    return this.#events.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get record(): SessionRecord {
    const { agent = "", principal = "", state = "idle" } = this.#fields;
    const { title, workingDirectory, folders = [], label, lineage = null } = this.#fields;
    return {
      sessionId: this.#sessionId,
      incarnation: this.incarnation,
      agent,
      principal,
      state,
      title: title ?? null,
      workingDirectory: workingDirectory ?? null,
      folders,
      label: label ?? null,
      lineage,
      createdAt: this.#createdAt,
      updatedAt: this.updatedAt,
      seq: this.#seq,
      wakeAt: this.wakeAt,
    };
  }

  /** Throws if JSON cannot represent an event, like a store on a disk. */
  append(entry: LogEntry): readonly Envelope[] {
    const bytes = entry.events.reduce((sum, draft) => sum + measureDraft(draft), 0);
    const events = entry.events.map((draft, index) =>
      createEnvelope(this.#sessionId, this.#seq + index + 1, draft),
    );
    for (const envelope of events) this.#events.push(envelope);
    this.#seq += events.length;
    this.#bytes += bytes;
    if (entry.command !== undefined) this.replies.set(entry.command.id, entry.command.reply);
    this.#fields = { ...this.#fields, ...entry.index };
    if (entry.wakeAt !== undefined) this.wakeAt = entry.wakeAt;
    return events;
  }

  read(after: number, limit: number): readonly Envelope[] {
    const start = this.#indexAfter(after);
    return this.#events.slice(start, start + limit);
  }

  containsWord(word: string): boolean {
    const { sessionId, title } = this.record;
    const searchWord = word.toLowerCase();
    const texts = this.#events.map(({ event }) => readSearchableText(event));
    return [sessionId, title, ...texts].some((text) => text?.toLowerCase().includes(searchWord));
  }

  dropDeltas(): number {
    const endedSeqs = new Set(findEndedDeltas(this.#events));
    this.#events = this.#events.filter(({ seq }) => !endedSeqs.has(seq));
    this.#bytes = this.#events.reduce((sum, envelope) => sum + measureDraft(envelope), 0);
    this.#firstSeq = Math.max(this.#firstSeq, ...[...endedSeqs].slice(-1).map((seq) => seq + 1));
    return endedSeqs.size;
  }

  /**
   * The index of the first event after `after`. No events are missing from `firstSeq` on, so the index is computed from
   * the end of the log; below `firstSeq` a search is needed.
   */
  #indexAfter(after: number): number {
    const fromEnd = this.#events.length - (this.#seq - after);
    if (after >= this.#firstSeq - 1) return Math.min(fromEnd, this.#events.length);
    const index = this.#events.findIndex(({ seq }) => seq > after);
    return index === -1 ? this.#events.length : index;
  }
}

function measureDraft({ at, turnId, actor, cause, visibility, event }: Draft): number {
  return JSON.stringify({ at, turnId, actor, cause, visibility, event }).length;
}

/** Lists sessions with at least one event, the newest first. */
export function listSessions(all: readonly MemorySession[], query: SessionQuery): SessionPage {
  const { limit, page, search = "" } = query;
  const pageEnd = page === undefined ? undefined : decodePage(page);
  const words = splitSearchWords(search);
  const matching = all
    .filter(({ record }) => record.seq > 0 && matchesQuery(record, query))
    .filter((session) => words.every((word) => session.containsWord(word)))
    .map(({ record }) => record)
    .filter((record) => pageEnd === undefined || compareNewestFirst(pageEnd, record) < 0)
    .sort(compareNewestFirst);
  const sessions = matching.slice(0, limit);
  const last = sessions.at(-1);
  return last !== undefined && matching.length > limit
    ? { sessions, nextPage: encodePage(last) }
    : { sessions };
}

function matchesQuery(record: SessionRecord, query: SessionQuery): boolean {
  const { principal, agent, workingDirectory, label, state, parent } = query;
  const ownParent = record.lineage?.parentSessionId ?? null;
  return (
    (state === undefined || state === record.state) &&
    (principal === undefined || principal === record.principal) &&
    (agent === undefined || agent === record.agent) &&
    (workingDirectory === undefined || workingDirectory === record.workingDirectory) &&
    (label === undefined || label === record.label) &&
    (parent === undefined || parent === ownParent)
  );
}

/** The ids of a session and of the sessions of its workers at all levels. */
export function listTree(
  sessions: ReadonlyMap<string, MemorySession>,
  sessionId: string,
): readonly string[] {
  const children = [...sessions].flatMap(([id, { record }]) =>
    record.lineage?.parentSessionId === sessionId ? listTree(sessions, id) : [],
  );
  return [sessionId, ...children];
}

type SortKey = Pick<SessionRecord, "updatedAt" | "sessionId">;

function compareNewestFirst(first: SortKey, second: SortKey): number {
  if (first.updatedAt !== second.updatedAt) return second.updatedAt - first.updatedAt;
  if (first.sessionId === second.sessionId) return 0;
  return first.sessionId < second.sessionId ? 1 : -1;
}
