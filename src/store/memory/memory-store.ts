import { createChangeNotifier } from "../change-notifier.ts";
import { subscribeToLog, type LogView } from "../subscribe-to-log.ts";
import { ReadQueue } from "../read-queue.ts";
import { applyRetention, type RetentionMoment, type RetentionSubject } from "../retention.ts";
import { splitSearchWords } from "../searchable-text.ts";
import { encodePage, decodePage } from "../page-position.ts";
import type {
  AcquiredLease,
  Lease,
  SessionPage,
  SessionQuery,
  SessionRecord,
  Store,
} from "../store.ts";
import {
  createBlobTakenError,
  createLeaseHeldError,
  createNoSessionError,
  createStaleLeaseError,
  createStoreClosedError,
  createWrongSeqError,
} from "../store-error.ts";
import { MemorySession } from "./memory-session.ts";

/** A store that ends with its process. */
export function createMemoryStore(): Store {
  const sessions = new Map<string, MemorySession>();
  const bell = createChangeNotifier();
  let epoch = 0;

  const find = (sessionId: string): MemorySession | undefined => {
    if (bell.isClosed) throw createStoreClosedError();
    return sessions.get(sessionId);
  };
  const owned = (lease: Lease): MemorySession => {
    const session = find(lease.sessionId);
    if (session === undefined || !isLeaseHolder(lease, session)) throw createStaleLeaseError(lease);
    return session;
  };
  const grantLease = (sessionId: string, session: MemorySession, owner: string, until: number) => {
    const wasAbandoned = session.holder?.isReleased === false;
    epoch += 1;
    session.holder = { owner, epoch, until, isReleased: false };
    return {
      lease: { sessionId, owner, epoch },
      head: session.head,
      wasAbandoned,
    } satisfies AcquiredLease;
  };
  const remove = (sessionId: string): boolean => {
    const existed = sessions.delete(sessionId);
    bell.notify(sessionId);
    return existed;
  };
  const pages = new ReadQueue();
  const log: LogView = {
    readHead: (sessionId) => find(sessionId)?.head,
    readNext: (sessionId, after) => find(sessionId)?.read(after, BATCH_SIZE) ?? [],
    addReader(sessionId) {
      const session = find(sessionId);
      if (session === undefined) return () => undefined;
      session.readers += 1;
      return () => void (session.readers -= 1);
    },
  };

  return {
    async acquire(sessionId, { owner, now, durationMs, takeOver = false }) {
      const session = find(sessionId) ?? new MemorySession(sessionId, now);
      const { holder } = session;
      if (isLeased(session, now) && holder !== undefined && holder.owner !== owner && !takeOver)
        throw createLeaseHeldError(sessionId, holder.owner, holder.until);
      sessions.set(sessionId, session);
      return grantLease(sessionId, session, owner, now + durationMs);
    },
    async renew(lease, now, forMs) {
      const session = find(lease.sessionId);
      if (session?.holder === undefined || !isLeaseHolder(lease, session)) return false;
      session.holder = { ...session.holder, until: now + forMs };
      return true;
    },
    async release(lease) {
      const session = find(lease.sessionId);
      if (session?.holder === undefined || !isLeaseHolder(lease, session)) return;
      session.holder = { ...session.holder, isReleased: true };
    },

    async append(lease, expectedSeq, entry) {
      const session = owned(lease);
      const reply = entry.command && session.replies.get(entry.command.id);
      if (reply !== undefined) return { status: "repeated", reply };
      const { seq } = session.head;
      if (seq !== expectedSeq) throw createWrongSeqError(lease.sessionId, expectedSeq, seq);
      const events = session.append(entry);
      bell.notify(lease.sessionId);
      return { status: "appended", events };
    },
    findReply: async (sessionId, commandId) => find(sessionId)?.replies.get(commandId),
    read: async (sessionId, after, limit) => find(sessionId)?.read(after, limit) ?? [],
    inspect: async (sessionId, after, limit) =>
      (find(sessionId)?.read(after, limit) ?? []).map((envelope) => ({
        status: "readable",
        seq: envelope.seq,
        envelope,
      })),
    async readPage(sessionId, after) {
      await pages.wait();
      const events = find(sessionId)?.read(after, BATCH_SIZE) ?? [];
      pages.finishRead(events.length / BATCH_SIZE);
      return events;
    },
    readHead: async (sessionId) => find(sessionId)?.head,
    subscribe: (sessionId, cursor, signal) =>
      subscribeToLog(log, bell, { sessionId, cursor }, signal),

    async claimDue(now, { owner, durationMs: forMs, limit }) {
      find("");
      return [...sessions]
        .filter(([, { wakeAt }]) => wakeAt !== null && wakeAt <= now)
        .filter(([, session]) => !isLeased(session, now))
        .sort(([, left], [, right]) => (left.wakeAt ?? 0) - (right.wakeAt ?? 0))
        .slice(0, limit)
        .map(([sessionId, session]) => grantLease(sessionId, session, owner, now + forMs));
    },

    async listSessions(query) {
      find("");
      return listPage([...sessions.values()], query);
    },
    async findSession(sessionId) {
      const record = find(sessionId)?.record;
      return record !== undefined && record.seq > 0 ? record : undefined;
    },
    deleteSession: async (sessionId) => find(sessionId) !== undefined && remove(sessionId),

    async putBlob(sessionId, blobId, bytes) {
      const session = find(sessionId);
      if (session === undefined) throw createNoSessionError(sessionId);
      const existingBlob = session.blobs.get(blobId);
      if (existingBlob === undefined) session.blobs.set(blobId, bytes.slice());
      else if (Buffer.compare(existingBlob, bytes) !== 0)
        throw createBlobTakenError(sessionId, blobId);
    },
    readBlob: async (sessionId, blobId) => find(sessionId)?.blobs.get(blobId)?.slice(),

    async saveSnapshot(lease, snapshot) {
      const session = owned(lease);
      const { seq } = session.head;
      if (snapshot.seq > seq) throw createWrongSeqError(lease.sessionId, snapshot.seq, seq);
      session.snapshot = snapshot;
    },
    async readSnapshot(sessionId, form) {
      const snapshot = find(sessionId)?.snapshot;
      return snapshot?.version === form ? snapshot : undefined;
    },

    applyRetention: async (rules) => {
      find("");
      return applyRetention(createRetentionSubject(sessions, remove), rules);
    },
    checkIntegrity: async () => [],
    async probe() {
      find("");
    },
    async measureSize() {
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

const BATCH_SIZE = 512;

function isLeaseHolder({ owner, epoch }: Lease, { holder }: MemorySession): boolean {
  return holder?.epoch === epoch && holder.owner === owner && !holder.isReleased;
}

function isLeased({ holder }: MemorySession, now: number): boolean {
  return holder !== undefined && !holder.isReleased && holder.until > now;
}

function listPage(all: readonly MemorySession[], query: SessionQuery): SessionPage {
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
  const { principal, agent, workingDirectory, label } = query;
  return (
    (principal === undefined || principal === record.principal) &&
    (agent === undefined || agent === record.agent) &&
    (workingDirectory === undefined || workingDirectory === record.workingDirectory) &&
    (label === undefined || label === record.label)
  );
}

type SortKey = Pick<SessionRecord, "updatedAt" | "sessionId">;

function compareNewestFirst(first: SortKey, second: SortKey): number {
  if (first.updatedAt !== second.updatedAt) return second.updatedAt - first.updatedAt;
  if (first.sessionId === second.sessionId) return 0;
  return first.sessionId < second.sessionId ? 1 : -1;
}

function createRetentionSubject(
  sessions: ReadonlyMap<string, MemorySession>,
  remove: (sessionId: string) => boolean,
): RetentionSubject {
  const isUnused = (
    session: MemorySession | undefined,
    { now, owner }: RetentionMoment,
  ): session is MemorySession => {
    if (session === undefined || session.readers > 0) return false;
    const { holder, wakeAt, record } = session;
    const isCallers = holder?.isReleased === false && holder.owner === owner;
    return wakeAt === null && record.state === "idle" && !isCallers && !isLeased(session, now);
  };
  return {
    countBytes: () => [...sessions.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    listUnused: (moment) =>
      [...sessions]
        .filter(([, session]) => isUnused(session, moment))
        .map(([sessionId, { updatedAt }]) => ({ sessionId, updatedAt }))
        .sort((first, second) => first.updatedAt - second.updatedAt),
    dropDeltas(sessionId, moment) {
      const session = sessions.get(sessionId);
      return isUnused(session, moment) ? session.dropDeltas() : 0;
    },
    remove: (sessionId, moment) => isUnused(sessions.get(sessionId), moment) && remove(sessionId),
  };
}
