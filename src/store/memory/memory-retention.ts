import type { RetentionMoment, RetentionSubject } from "../retention.ts";
import { isLeased } from "./leases.ts";
import type { MemorySession } from "./session-rows.ts";

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
