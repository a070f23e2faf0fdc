import type { Retained, RetentionRules } from "./store.ts";

/** A store as retention sees it. A session that came into use since it was listed is left as it is. */
export interface RetentionSubject {
  /** What all events have. */
  bytes(): number;
  /** Sessions that are not in use, the oldest first. */
  unused(moment: Moment): readonly { readonly sessionId: string; readonly updatedAt: number }[];
  /** Gives how many were dropped. */
  dropDeltas(sessionId: string, moment: Moment): number;
  remove(sessionId: string, moment: Moment): boolean;
}

/** Whose leases count when. */
export type Moment = Pick<RetentionRules, "now" | "owner">;

/** One session at a time, with a turn of the loop between two: whoever talks to the others does not wait for it. */
export async function applyRetention(
  subject: RetentionSubject,
  rules: RetentionRules,
): Promise<Retained> {
  const { before, maxBytes } = rules;
  let deletedSessions = 0;
  let droppedEvents = 0;
  const remove = (sessionId: string): void => {
    if (subject.remove(sessionId, rules)) deletedSessions += 1;
  };
  const isTooLarge = (): boolean => maxBytes !== undefined && subject.bytes() > maxBytes;
  for (const { sessionId, updatedAt } of subject.unused(rules)) {
    if (before === undefined || updatedAt >= before) break;
    remove(sessionId);
    await nextTurn();
  }
  for (const { sessionId } of isTooLarge() ? subject.unused(rules) : []) {
    if (!isTooLarge()) break;
    droppedEvents += subject.dropDeltas(sessionId, rules);
    await nextTurn();
  }
  for (const { sessionId } of isTooLarge() ? subject.unused(rules) : []) {
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
