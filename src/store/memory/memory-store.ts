import { makeBell } from "../bell.ts";
import { follow, type LogView } from "../follow.ts";
import { ReadingQueue } from "../reading-queue.ts";
import { applyRetention, type Moment, type RetentionSubject } from "../retention.ts";
import { searchWords } from "../said.ts";
import { pageAfter, readPage } from "../session-page.ts";
import type { Acquired, Lease, SessionPage, SessionQuery, SessionRecord, Store } from "../store.ts";
import {
  blobTaken,
  leaseHeld,
  noSession,
  staleLease,
  storeClosed,
  wrongSeq,
} from "../store-error.ts";
import { MemorySession } from "./memory-session.ts";

/** A store that ends with its process. */
export function memoryStore(): Store {
  const sessions = new Map<string, MemorySession>();
  const bell = makeBell();
  let epoch = 0;

  const find = (sessionId: string): MemorySession | undefined => {
    if (bell.isClosed) throw storeClosed();
    return sessions.get(sessionId);
  };
  const owned = (lease: Lease): MemorySession => {
    const session = find(lease.sessionId);
    if (session === undefined || !holds(lease, session)) throw staleLease(lease);
    return session;
  };
  const give = (sessionId: string, session: MemorySession, owner: string, until: number) => {
    const abandoned = session.holder?.isReleased === false;
    epoch += 1;
    session.holder = { owner, epoch, until, isReleased: false };
    return { lease: { sessionId, owner, epoch }, head: session.head, abandoned } satisfies Acquired;
  };
  const remove = (sessionId: string): boolean => {
    const existed = sessions.delete(sessionId);
    bell.ring(sessionId);
    return existed;
  };
  const pages = new ReadingQueue();
  const log: LogView = {
    head: (sessionId) => find(sessionId)?.head,
    next: (sessionId, after) => find(sessionId)?.read(after, BATCH) ?? [],
    join(sessionId) {
      const session = find(sessionId);
      if (session === undefined) return () => undefined;
      session.readers += 1;
      return () => void (session.readers -= 1);
    },
  };

  return {
    async acquire(sessionId, { owner, now, forMs, takeOver = false }) {
      const session = find(sessionId) ?? new MemorySession(sessionId, now);
      const { holder } = session;
      if (isHeld(session, now) && holder !== undefined && holder.owner !== owner && !takeOver)
        throw leaseHeld(sessionId, holder.owner, holder.until);
      sessions.set(sessionId, session);
      return give(sessionId, session, owner, now + forMs);
    },
    async renew(lease, now, forMs) {
      const session = find(lease.sessionId);
      if (session?.holder === undefined || !holds(lease, session)) return false;
      session.holder = { ...session.holder, until: now + forMs };
      return true;
    },
    async release(lease) {
      const session = find(lease.sessionId);
      if (session?.holder === undefined || !holds(lease, session)) return;
      session.holder = { ...session.holder, isReleased: true };
    },

    async append(lease, expectedSeq, entry) {
      const session = owned(lease);
      const reply = entry.command && session.replies.get(entry.command.id);
      if (reply !== undefined) return { status: "repeated", reply };
      const { seq } = session.head;
      if (seq !== expectedSeq) throw wrongSeq(lease.sessionId, expectedSeq, seq);
      const events = session.append(entry);
      bell.ring(lease.sessionId);
      return { status: "appended", events };
    },
    findReply: async (sessionId, commandId) => find(sessionId)?.replies.get(commandId),
    read: async (sessionId, after, limit) => find(sessionId)?.read(after, limit) ?? [],
    examine: async (sessionId, after, limit) =>
      (find(sessionId)?.read(after, limit) ?? []).map((envelope) => ({
        status: "readable",
        seq: envelope.seq,
        envelope,
      })),
    async page(sessionId, after) {
      await pages.wait();
      const events = find(sessionId)?.read(after, BATCH) ?? [];
      pages.took(events.length / BATCH);
      return events;
    },
    head: async (sessionId) => find(sessionId)?.head,
    subscribe: (sessionId, cursor, signal) => follow(log, bell, { sessionId, cursor }, signal),

    async claimDue(now, { owner, forMs, limit }) {
      find("");
      return [...sessions]
        .filter(([, { wakeAt }]) => wakeAt !== null && wakeAt <= now)
        .filter(([, session]) => !isHeld(session, now))
        .sort(([, left], [, right]) => (left.wakeAt ?? 0) - (right.wakeAt ?? 0))
        .slice(0, limit)
        .map(([sessionId, session]) => give(sessionId, session, owner, now + forMs));
    },

    async sessions(query) {
      find("");
      return pageOf([...sessions.values()], query);
    },
    async session(sessionId) {
      const record = find(sessionId)?.record;
      return record !== undefined && record.seq > 0 ? record : undefined;
    },
    deleteSession: async (sessionId) => find(sessionId) !== undefined && remove(sessionId),

    async putBlob(sessionId, blobId, bytes) {
      const session = find(sessionId);
      if (session === undefined) throw noSession(sessionId);
      const kept = session.blobs.get(blobId);
      if (kept === undefined) session.blobs.set(blobId, bytes.slice());
      else if (Buffer.compare(kept, bytes) !== 0) throw blobTaken(sessionId, blobId);
    },
    blob: async (sessionId, blobId) => find(sessionId)?.blobs.get(blobId)?.slice(),

    async saveSnapshot(lease, snapshot) {
      const session = owned(lease);
      const { seq } = session.head;
      if (snapshot.seq > seq) throw wrongSeq(lease.sessionId, snapshot.seq, seq);
      session.snapshot = snapshot;
    },
    async snapshot(sessionId, form) {
      const snapshot = find(sessionId)?.snapshot;
      return snapshot?.form === form ? snapshot : undefined;
    },

    retain: async (rules) => {
      find("");
      return applyRetention(retained(sessions, remove), rules);
    },
    check: async () => [],
    async probe() {
      find("");
    },
    async size() {
      find("");
      const records = [...sessions.values()].filter(({ record }) => record.seq > 0);
      const events = records.reduce((sum, { length }) => sum + length, 0);
      return { sessions: records.length, events };
    },
    async close() {
      bell.close();
      sessions.clear();
    },
  };
}

const BATCH = 512;

function holds({ owner, epoch }: Lease, { holder }: MemorySession): boolean {
  return holder?.epoch === epoch && holder.owner === owner && !holder.isReleased;
}

function isHeld({ holder }: MemorySession, now: number): boolean {
  return holder !== undefined && !holder.isReleased && holder.until > now;
}

function pageOf(all: readonly MemorySession[], query: SessionQuery): SessionPage {
  const { limit, page, search = "" } = query;
  const end = page === undefined ? undefined : readPage(page);
  const words = searchWords(search);
  const found = all
    .filter(({ record }) => record.seq > 0 && matches(record, query))
    .filter((session) => words.every((word) => session.says(word)))
    .map(({ record }) => record)
    .filter((record) => end === undefined || newestFirst(end, record) < 0)
    .sort(newestFirst);
  const sessions = found.slice(0, limit);
  const last = sessions.at(-1);
  return last !== undefined && found.length > limit
    ? { sessions, nextPage: pageAfter(last) }
    : { sessions };
}

function matches(record: SessionRecord, query: SessionQuery): boolean {
  const { principal, agent, workingDirectory, label } = query;
  return (
    (principal === undefined || principal === record.principal) &&
    (agent === undefined || agent === record.agent) &&
    (workingDirectory === undefined || workingDirectory === record.workingDirectory) &&
    (label === undefined || label === record.label)
  );
}

type Placed = Pick<SessionRecord, "updatedAt" | "sessionId">;

function newestFirst(left: Placed, right: Placed): number {
  if (left.updatedAt !== right.updatedAt) return right.updatedAt - left.updatedAt;
  if (left.sessionId === right.sessionId) return 0;
  return left.sessionId < right.sessionId ? 1 : -1;
}

function retained(
  sessions: ReadonlyMap<string, MemorySession>,
  remove: (sessionId: string) => boolean,
): RetentionSubject {
  const isUnused = (
    session: MemorySession | undefined,
    { now, owner }: Moment,
  ): session is MemorySession => {
    if (session === undefined || session.readers > 0) return false;
    const { holder, wakeAt, record } = session;
    const isCallers = holder?.isReleased === false && holder.owner === owner;
    return wakeAt === null && record.state === "idle" && !isCallers && !isHeld(session, now);
  };
  return {
    bytes: () => [...sessions.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    unused: (moment) =>
      [...sessions]
        .filter(([, session]) => isUnused(session, moment))
        .map(([sessionId, { updatedAt }]) => ({ sessionId, updatedAt }))
        .sort((left, right) => left.updatedAt - right.updatedAt),
    dropDeltas(sessionId, moment) {
      const session = sessions.get(sessionId);
      return isUnused(session, moment) ? session.dropDeltas() : 0;
    },
    remove: (sessionId, moment) => isUnused(sessions.get(sessionId), moment) && remove(sessionId),
  };
}
