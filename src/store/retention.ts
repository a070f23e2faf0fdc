import type { Retained, RetentionRules } from "./store.ts";

/** A store as retention sees it. A session that came into use since it was listed is left as it is. */
export interface RetentionSubject {
  /** What all events have. */
  bytes(): number;
  /** Sessions that nobody owns and that do not want to be woken, the oldest first. */
  unused(now: number): readonly { readonly sessionId: string; readonly updatedAt: number }[];
  /** Gives how many were dropped. */
  dropDeltas(sessionId: string, now: number): number;
  remove(sessionId: string, now: number): boolean;
}

/** One session at a time, with a turn of the loop between two: whoever talks to the others does not wait for it. */
export async function applyRetention(
  subject: RetentionSubject,
  { now, before, maxBytes }: RetentionRules,
): Promise<Retained> {
  let deletedSessions = 0;
  let droppedEvents = 0;
  const remove = (sessionId: string): void => {
    if (subject.remove(sessionId, now)) deletedSessions += 1;
  };
  const isTooLarge = (): boolean => maxBytes !== undefined && subject.bytes() > maxBytes;
  for (const { sessionId, updatedAt } of subject.unused(now)) {
    if (before === undefined || updatedAt >= before) break;
    remove(sessionId);
    await nextTurn();
  }
  for (const { sessionId } of isTooLarge() ? subject.unused(now) : []) {
    if (!isTooLarge()) break;
    droppedEvents += subject.dropDeltas(sessionId, now);
    await nextTurn();
  }
  for (const { sessionId } of isTooLarge() ? subject.unused(now) : []) {
    if (!isTooLarge()) break;
    remove(sessionId);
    await nextTurn();
  }
  return { deletedSessions, droppedEvents, bytes: subject.bytes() };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
