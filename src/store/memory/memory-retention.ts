import type { RetentionMoment, RetentionSubject } from "../retention.ts";
import { isLeased } from "./leases.ts";
import { listTree, type MemorySession } from "./session-rows.ts";

export function createMemoryRetention(
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
  const listIfUnused = (sessionId: string, moment: RetentionMoment): readonly MemorySession[] => {
    const tree = listTree(sessions, sessionId).map((id) => sessions.get(id));
    const unused = tree.filter((session) => isUnused(session, moment));
    return unused.length === tree.length ? unused : [];
  };
  /** A tree of sessions is as old as its newest session. */
  const findUpdateTime = (sessionId: string): number =>
    Math.max(...listTree(sessions, sessionId).map((id) => sessions.get(id)?.updatedAt ?? 0));
  return {
    countBytes: () => [...sessions.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    listUnused: (moment) =>
      [...sessions]
        .filter(([, session]) => session.record.lineage === null && isUnused(session, moment))
        .map(([sessionId]) => ({ sessionId, updatedAt: findUpdateTime(sessionId) }))
        .sort((first, second) => first.updatedAt - second.updatedAt),
    dropDeltas(sessionId, moment) {
      const tree = listIfUnused(sessionId, moment);
      return tree.reduce((total, session) => total + session.dropDeltas(), 0);
    },
    remove: (sessionId, moment) => listIfUnused(sessionId, moment).length > 0 && remove(sessionId),
  };
}
